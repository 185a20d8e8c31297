// What to type into which encoder: cards for a stream key, and for a participant's token.
// Commands are one line: each shell has a sign of its own that a line goes on.

import { obsConfiguration } from './api.js';

const picture = '-re -f lavfi -i testsrc2=s=1280x720:r=30 -f lavfi -i sine=f=440:r=48000';
const video = '-c:v libx264 -profile:v baseline -bf 0 -g 60 -b:v 2500k -maxrate 2500k -bufsize 2500k -preset veryfast -tune zerolatency -pix_fmt yuv420p';
const ownPicture = 'A test picture with a tone; put your own -i FILE in place of both inputs, and -s 1280x720 behind it where it is larger.';
const gstreamerVideo = 'videotestsrc is-live=true ! "video/x-raw,width=1280,height=720,framerate=30/1"';
const obsOutput = 'Settings > Output > Advanced, x264: CBR, at most 6000 kbit/s, Keyframe Interval 2 s, Profile baseline, '
  + 'Tune zerolatency, x264 Options bframes=0. Settings > Video: 1280x720.';

const withSlash = url => url.endsWith('/') ? url : `${url}/`;
const withoutSlash = url => url.replace(/\/$/, '');

/** The ingest endpoints that a key of this transport may use, the encrypted one first. */
const servers = ({ ingestProtocol }, { rtmp, rtmps }) =>
  [{ name: 'RTMPS', url: rtmps }, { name: 'RTMP', url: ingestProtocol === 'RTMP' ? rtmp : '' }].filter(server => server.url);

/** @param configuration what GetIngestConfiguration answers. With redundant ingest each of two encoders has a key of its own. */
export function keyCards(configuration, endpoints) {
  const id = configuration.arn.split('/')[1];
  const own = servers(configuration, endpoints);
  const pair = configuration.redundantIngestCredentials;
  if (!pair) return [overrideCard(id), ...encoderCards(own, configuration)];
  return pair.flatMap(({ streamKey }, index) => {
    const name = `${configuration.name || 'Stagedoor'} ${index + 1}`;
    return [overrideCard(id, index + 1), ...encoderCards(own, { ...configuration, name, streamKey })]
      .map(card => ({ ...card, title: `Encoder ${index + 1}: ${card.title}` }));
  });
}

const encoderCards = (own, configuration) => [
  ...own.map(server => obsCard(server, configuration.streamKey)), ...own.map(server => ffmpegCard(server, configuration.streamKey)),
  ...own.slice(0, 1).flatMap(server => [gstreamerCard(server, configuration.streamKey), larixCard(server, configuration)]),
];

const obsCard = ({ name, url }, key) => ({
  title: `OBS by ${name}`, hint: `Settings > Stream, Service "Custom…". ${obsOutput}`,
  fields: [{ label: 'Server', value: withoutSlash(url) }, { label: 'Stream key', value: key }],
});

const overrideCard = (id, encoder) => ({
  title: 'OBS 32, settings and all',
  hint: 'Settings > Stream, Service "Custom…": Enable Multitrack Video, Enable Config Override, and paste this there. It holds the stream key.',
  load: { label: 'Config Override', ask: async () => JSON.stringify(await obsConfiguration(id, encoder), null, 2) },
});

const ffmpegCard = ({ name, url }, key) => ({
  title: `ffmpeg by ${name}`, hint: ownPicture,
  fields: [{ label: 'Command', isLong: true, value:
    `ffmpeg ${picture} ${video} -c:a aac -b:a 128k -ar 48000 -ac 2 -f flv "${withSlash(url)}${key}"` }],
});

const gstreamerCard = ({ name, url }, key) => ({
  title: `GStreamer by ${name}`,
  fields: [{ label: 'Command', isLong: true, value:
    `gst-launch-1.0 flvmux name=mux streamable=true ! rtmp2sink location="${withSlash(url)}${key}" ${gstreamerVideo} ! x264enc `
    + 'tune=zerolatency bframes=0 key-int-max=60 bitrate=2500 ! "video/x-h264,profile=baseline" ! mux. '
    + 'audiotestsrc is-live=true ! audioconvert ! voaacenc bitrate=128000 ! mux.' }],
});

/** Larix takes its settings from a link of its own ("Larix Grove"). */
function larixCard({ name, url }, { streamKey, name: title }) {
  const target = `${withSlash(url)}${streamKey}`;
  const settings = [
    ['conn[][url]', target], ['conn[][name]', title ?? 'Stagedoor'], ['conn[][overwrite]', 'on'], ['enc[vid][res]', '1280x720'],
    ['enc[vid][fps]', '30'], ['enc[vid][bitrate]', '2500'], ['enc[vid][keyframe]', '2'], ['enc[vid][format]', 'avc'],
  ];
  const link = `larix://set/v1?${settings.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&')}`;
  return {
    title: `Larix Broadcaster by ${name}`, hint: 'Connections: the URL. Video: H.264, Keyframe 2 s, Profile Baseline. Or read the code with the phone.',
    fields: [{ label: 'URL', value: target }], code: { label: 'opens Larix with these settings', text: link },
  };
}

/** @param token what CreateParticipantToken answers. */
export function tokenCards({ token, capabilities }, stageId, { whip, publish, watch }) {
  const cards = [];
  if (capabilities.includes('PUBLISH') && publish) cards.push(pageCard('Publish from a browser', `${publish}#token=${token}`));
  if (capabilities.includes('SUBSCRIBE') && watch) cards.push(pageCard('Watch in a browser', `${withSlash(watch)}${stageId}#token=${token}`));
  if (capabilities.includes('PUBLISH') && whip) cards.push(...whipCards(whip, token));
  return [...cards, { title: 'The token itself', fields: [{ label: 'Token', value: token, isLong: true }] }];
}

const pageCard = (title, url) => ({
  title, fields: [{ label: 'Link', value: url, isLong: true }], link: { words: 'Open in a new tab', url },
  code: { label: 'opens the same page on a phone', text: url },
});

const whipCards = (whip, token) => [
  {
    title: 'OBS by WHIP', hint: `Settings > Stream, Service "WHIP". ${obsOutput}`,
    fields: [{ label: 'Server', value: whip }, { label: 'Bearer token', value: token }],
  },
  {
    title: 'ffmpeg 8 by WHIP', hint: ownPicture,
    fields: [{ label: 'Command', isLong: true, value:
      `ffmpeg ${picture} ${video} -c:a libopus -b:a 96k -ar 48000 -ac 2 -f whip -authorization ${token} "${whip}"` }],
  },
  {
    title: 'GStreamer by WHIP', hint: 'With whipclientsink of gst-plugins-rs.',
    fields: [{ label: 'Command', isLong: true, value:
      `gst-launch-1.0 whipclientsink name=sink video-caps=video/x-h264 signaller::whip-endpoint="${whip}" signaller::auth-token=${token} `
      + `${gstreamerVideo} ! sink. audiotestsrc is-live=true ! sink.` }],
  },
  {
    title: 'Larix Broadcaster by WHIP', hint: 'Connections > New: WHIP. Video: H.264, Keyframe 2 s, Profile Baseline.',
    fields: [{ label: 'URL', value: whip }, { label: 'Token', value: token }],
  },
];
