// Numbers in words.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const count = (number) => whole.format(number);
export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

export function rate(perSecond) {
  if (perSecond > 0 && perSecond < 0.05) return "<0.1/s";
  return `${perSecond < 9.95 ? tenths.format(perSecond) : whole.format(perSecond)}/s`;
}

/// 100 % is said only if all of them succeeded, 0 % only if none did.
export function percent(part) {
  if (part >= 1) return "100 %";
  if (part > 0 && part < 0.001) return "<0.1 %";
  const floor = Math.floor(part * 1000) / 10;
  return `${Number.isInteger(floor) ? floor : tenths.format(floor)} %`;
}

const amount = (number) => (number < 9.95 ? tenths : whole).format(number);
const milliseconds = (ms) => (ms < 999.5 ? `${amount(ms)} ms` : `${amount(ms / 1000)} s`);

/// Median and slowest hundredth, with the unit said once if it is the same.
export function times({ p50, p99 }) {
  if (p50 == null || p99 == null) return p50 == null && p99 == null ? "" : milliseconds(p50 ?? p99);
  const [low, high] = [milliseconds(p50), milliseconds(p99)];
  const [number, unit] = low.split(" ");
  return high.endsWith(` ${unit}`) ? `${number} – ${high}` : `${low} – ${high}`;
}

export const time = (ms) => (ms == null ? "–" : milliseconds(ms));

export function memory(bytes) {
  return bytes == null ? "–" : `${count(bytes / (1 << 20))} MiB`;
}

/// The two largest units of some seconds.
export function duration(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  let left = Math.max(0, Math.round(seconds));
  const said = [];
  for (const [unit, size] of units) {
    const number = Math.floor(left / size);
    left -= number * size;
    if (number > 0) said.push(`${number} ${unit}`);
    else if (said.length) break;
    if (said.length === 2) break;
  }
  return said.join(" ") || "0 s";
}

/// Fewer than 99 of 100 calls of the last ten seconds came back well.
export const isFailing = (edge) => edge.success != null && edge.success < 0.99;
export const isIdle = (edge) => !(edge.rate > 0);
