// Figures and times in words.

export const bits = value => value >= 999_500 ? `${(value / 1e6).toFixed(2)} Mbit/s` : `${Math.round(value / 1e3)} kbit/s`;
export const bytes = value => value >= 1 << 30 ? `${(value / (1 << 30)).toFixed(1)} GiB` : `${Math.round(value / (1 << 20))} MiB`;
export const percent = (value, places = 0) => `${(value * 100).toFixed(places)} %`;
export const clock = time => new Date(time).toLocaleTimeString([], { hourCycle: 'h23' });
const pad = number => String(number).padStart(2, '0');
export const span = seconds => seconds >= 3600
  ? `${Math.floor(seconds / 3600)}:${pad(Math.floor(seconds / 60) % 60)}:${pad(Math.floor(seconds) % 60)}`
  : `${Math.floor(seconds / 60)}:${pad(Math.floor(seconds) % 60)}`;
export const between = (begin, end) => Math.max(0, (Date.parse(end) - Date.parse(begin)) / 1000);
export const words = step => step.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().replace(/\b(rtp|idr|dtls)\b/g, word => word.toUpperCase());
