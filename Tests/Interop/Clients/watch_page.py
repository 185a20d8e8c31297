#!/usr/bin/env python3
"""watch_page.py URL PICTURES SCREENSHOT: opens the watch page in headless Chromium and says what is to be seen there.

Waits for PICTURES participants to play, measures, and prints one line of JSON; then waits for one of them to leave and prints
another. Latency is read from the bars of clock_picture.py, on the clock of this machine.
"""
import json
import signal
import sys
import time

import selenium.webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import webdriver

ARGUMENTS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--window-size=1200,800",
    "--autoplay-policy=no-user-gesture-required", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--proxy-server=direct://", "--disable-features=MediaRouter,OptimizationHints",
]
# The page's own connections, to ask them for statistics without the page's help.
KEEP_PEERS = """
window.peers = [];
const Native = RTCPeerConnection;
window.RTCPeerConnection = class extends Native { constructor(...given) { super(...given); peers.push(this); } };
"""
MEASURE = """
const done = arguments[0];
const wait = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));
const canvas = Object.assign(document.createElement('canvas'), {width: 640, height: 360});
const pen = canvas.getContext('2d', {willReadFrequently: true});
function madeAt(video) {
  pen.drawImage(video, 0, 0, 640, 360);
  const row = pen.getImageData(0, 24, 640, 1).data;
  let value = 0, check = 0;
  for (let bar = 0; bar < 24; bar++) value = value * 2 + (row[4 * (8 + 26 * bar + 13)] > 125 ? 1 : 0);
  for (let nibble = 1; nibble < 6; nibble++) check ^= Math.floor(value / 16 ** nibble) % 16;
  return value % 16 === check ? Math.floor(value / 16) : undefined;
}
function brightness(video) {
  pen.drawImage(video, 0, 0, 640, 360);
  const data = pen.getImageData(0, 0, 640, 360).data;
  let sum = 0;
  for (let index = 0; index < data.length; index += 4) sum += data[index] + data[index + 1] + data[index + 2];
  return sum / (640 * 360 * 3);
}
async function latencies(video, milliseconds) {
  const found = [], end = performance.now() + milliseconds;
  while (performance.now() < end) {
    await Promise.race([new Promise(resolve => video.requestVideoFrameCallback(resolve)), wait(500)]);
    const made = madeAt(video);
    if (made !== undefined) found.push((Date.now() % 0x100000 - made + 0x100000) % 0x100000);
  }
  return found;
}
async function statistics(peer) {
  const found = {};
  for (const report of (await peer.getStats()).values()) {
    if (report.type === 'inbound-rtp') found[report.kind] = report;
  }
  return {frames: found.video?.framesDecoded ?? 0, level: found.audio?.audioLevel ?? 0,
    energy: found.audio?.totalAudioEnergy ?? 0, lost: found.video?.packetsLost ?? 0, nacks: found.video?.nackCount ?? 0};
}
async function one(figure) {
  const video = figure.querySelector('video');
  const receivers = peers.filter(peer => peer.connectionState === 'connected');
  const peer = receivers.find(each => each.getReceivers().some(r => video.srcObject.getTracks().includes(r.track)));
  const before = {time: video.currentTime, ...await statistics(peer)}, end = performance.now() + 40000;
  let times = [], after = before;
  const isEnough = () => after.frames - before.frames > 40 && after.time - before.time > 2 && times.length > 20;
  // Three seconds, and more where the machine is busy.
  while (!isEnough() && performance.now() < end) {
    times = [...times, ...await latencies(video, 3000)].sort((a, b) => a - b);
    after = {time: video.currentTime, ...await statistics(peer)};
  }
  return {
    participant: figure.dataset.participant, width: video.videoWidth, height: video.videoHeight,
    played: after.time - before.time, frames: after.frames - before.frames, level: after.level,
    energy: after.energy - before.energy, lost: after.lost, brightness: brightness(video),
    stereo: /^a=fmtp:.*;stereo=1/m.test(peer.localDescription.sdp),
    samples: times.length, latency: times[Math.floor(times.length / 2)], latency90: times[Math.floor(times.length * .9)],
    text: Object.fromEntries([...figure.querySelectorAll('dl > div')].map(
      row => [row.firstElementChild.textContent, row.lastElementChild.textContent])),
  };
}
(async () => JSON.stringify(await Promise.all([...document.querySelectorAll('figure')].map(one))))().then(
  done, error => done(JSON.stringify({error: String(error) + error.stack})));
"""
HEARD = """
const done = arguments[0];
(async () => {
  const heard = new Set();
  for (const peer of peers.filter(peer => peer.connectionState === 'connected')) {
    for (const report of (await peer.getStats()).values()) {
      if (report.type === 'inbound-rtp' && report.kind === 'audio' && report.audioLevel > 0) heard.add(peer);
    }
  }
  return heard.size;
})().then(done, () => done(0));
"""
TOLD = "return [...document.querySelectorAll('dd.latency')].filter(told => /[0-9]/.test(told.textContent)).length"
PLAYING = "return [...document.querySelectorAll('video')].filter(video => video.currentTime > 0.5).length"


def wait_for(seconds, condition):
    end = time.time() + seconds
    while time.time() < end:
        if condition():
            return True
        time.sleep(.1)
    return False


def keyboard(driver):
    """What the keys do: focus goes to a picture, `s` gives all sound, `?` opens the list of keys."""
    body = driver.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.ARROW_RIGHT)
    focused = driver.execute_script("return document.activeElement.tagName")
    driver.switch_to.active_element.send_keys("s")
    heard = driver.execute_script("return [...document.querySelectorAll('video')].filter(video => !video.muted).length")
    driver.switch_to.active_element.send_keys("?")
    listed = driver.execute_script("return document.querySelector('dialog').open")
    driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    return {"focused": focused, "heard": heard, "listed": listed}


def devtools(driver, command, **parameters):
    driver.execute("executeCdpCommand", {"cmd": command, "params": parameters})


def themes(driver):
    """The page's ground in the light and in the dark."""
    colours = []
    for theme in ["light", "dark"]:
        devtools(driver, "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        colours.append(driver.execute_script("return getComputedStyle(document.documentElement).backgroundColor"))
    return colours


def watch(driver, url, count, screenshot):
    devtools(driver, "Page.addScriptToEvaluateOnNewDocument", source=KEEP_PEERS)
    driver.set_script_timeout(90)
    driver.get(url)
    if not wait_for(120, lambda: driver.execute_script(PLAYING) >= count):
        driver.save_screenshot(screenshot)
        print(json.dumps({"error": driver.execute_script("return document.body.innerText")}), flush=True)
        return 1
    # Sound first: browsers measure no level of what is muted.
    seen = {"keyboard": keyboard(driver)}
    wait_for(60, lambda: driver.execute_async_script(HEARD) >= count and driver.execute_script(TOLD) >= count)
    seen["participants"] = json.loads(driver.execute_async_script(MEASURE))
    seen["themes"] = themes(driver)
    driver.save_screenshot(screenshot)
    seen["resources"] = driver.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    print(json.dumps(seen), flush=True)
    left = wait_for(60, lambda: len(driver.find_elements(By.TAG_NAME, "figure")) == count - 1)
    print(json.dumps({"left": left, "playing": driver.execute_script(PLAYING)}), flush=True)
    return 0 if left else 1


def main():
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("not done within 400 s"))
    signal.alarm(400)
    options = selenium.webdriver.ChromeOptions()
    for argument in ARGUMENTS:
        options.add_argument(argument)
    with webdriver.driver() as base:
        driver = selenium.webdriver.Remote(base, options=options)
        return watch(driver, sys.argv[1], int(sys.argv[2]), sys.argv[3])


sys.exit(main())
