// This node: its tiles, its phase, its name.

import { $, make, put } from './dom.js';
import { History, draw, sparkline } from './sparkline.js';
import { bytes, percent, span, words } from './units.js';

const nodeHistory = { live: new History(), cpu: new History(), lag: new History(), memory: new History(), descriptors: new History() };

function tile(id, title) {
  const element = make('div', { class: 'tile', id: `tile-${id}` }, make('h3', {}, title),
    make('p', { class: 'value' }), make('small'), sparkline(`${title}, last two minutes`));
  $('tiles').append(element);
  return element;
}

function showTile(id, title, value, detail, history, scale) {
  const element = $(`tile-${id}`) ?? tile(id, title);
  put(element.querySelector('.value'), value);
  put(element.querySelector('small'), detail);
  draw(element.querySelector('svg'), history, scale);
}

export function showNode({ node, limits, liveSessions }) {
  nodeHistory.live.add(liveSessions);
  nodeHistory.cpu.add(node.cpu);
  nodeHistory.lag.add(node.loopLagMilliseconds);
  nodeHistory.memory.add(node.memoryBytes);
  nodeHistory.descriptors.add(node.descriptors);
  const most = limits.maximumPublishers;
  showTile('live', 'Live publishes', String(liveSessions), most ? `of at most ${most}` : `at most ${limits.publishersPerStage} a stage`,
    nodeHistory.live, { ceiling: 4, limit: most });
  showTile('cpu', 'CPU', percent(node.cpu), `of ${node.grantedCPUs} CPUs, refuses at ${percent(limits.cpu)}`,
    nodeHistory.cpu, { ceiling: 0.1, limit: limits.cpu });
  showTile('lag', 'Loop lag', `${node.loopLagMilliseconds.toFixed(1)} ms`, `refuses at ${limits.loopLagMilliseconds} ms`,
    nodeHistory.lag, { ceiling: 10, limit: limits.loopLagMilliseconds });
  showTile('memory', 'Memory', bytes(node.memoryBytes), limits.memoryBytes ? `refuses at ${bytes(limits.memoryBytes)}` : 'no limit set',
    nodeHistory.memory, { limit: limits.memoryBytes });
  showTile('descriptors', 'Descriptors', percent(node.descriptors, 1), `of ${node.maximumDescriptors}, refuses at ${percent(limits.descriptors)}`,
    nodeHistory.descriptors, { ceiling: 0.05, limit: limits.descriptors });

  const phase = node.phase !== 'serving' ? 'draining' : node.closure ?? (node.clusterAway ? 'clusterAway' : 'serving');
  $('phase').dataset.phase = phase;
  $('phase').title = node.clusterAway ?? '';
  put($('phase'), node.overloadedBy ? `overloaded by ${words(node.overloadedBy)}` : node.phase === 'finished' ? 'drained' : words(phase));
  put($('identity'), `${node.host} · ${node.version} · ${node.region} · up ${span(node.uptimeSeconds)}`);
}
