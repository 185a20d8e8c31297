// Begins the console. When one of its modules does not come the page says so and is loaded anew: a browser asks for a module once.

const pause = 2000;

import('/console/console.js').catch(() => {
  const phase = document.getElementById('phase');
  phase.dataset.phase = 'unreachable';
  phase.textContent = 'unreachable';
  loadAnew();
});

/** Once the gateway answers: the browser's own page for errors would stay. */
function loadAnew() {
  setTimeout(() => fetch('/', { cache: 'no-store' }).then(() => location.reload(), loadAnew), pause);
}
