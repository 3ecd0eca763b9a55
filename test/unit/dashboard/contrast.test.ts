import { describe, expect, it } from 'vitest';
import { STYLE } from '../../../dashboard/assets/style.ts';

/** What people with weak eyes need for text. */
const ENOUGH = 4.5;

const [, LIGHT = '', DARK = ''] = /:root \{([^}]*)\}[\s\S]*?:root \{([^}]*)\}/.exec(STYLE) ?? [];

const colourIn = (scheme: string, name: string): string => {
  const [, hex] = new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(scheme) ?? [];
  if (hex === undefined) throw new Error(`there is no colour ${name}`);
  return hex;
};

/** As the web's accessibility guidelines reckon it. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((from) => {
    const part = parseInt(hex.slice(from, from + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const textColourOf = (selector: string): string => {
  const [, name] = new RegExp(`\\n${selector} \\{ color: var\\(--([a-z]+)\\)`).exec(STYLE) ?? [];
  if (name === undefined) throw new Error(`${selector} has no colour`);
  return name;
};

describe.each([
  ['light', LIGHT],
  ['dark', DARK],
])('in the %s', (_, scheme) => {
  it.each([
    ['ink', 'paper'],
    ['ink', 'card'],
    ['soft', 'paper'],
    ['soft', 'card'],
    ['soft', 'wash'],
    ['accent', 'card'],
    ['accent-ink', 'accent'],
    ['good', 'good-wash'],
    ['warn', 'warn-wash'],
    ['bad', 'bad-wash'],
    [textColourOf('\\.zero'), 'card'],
    [textColourOf('time \\.clock'), 'card'],
  ])('%s can be read on %s', (text, ground) => {
    expect(contrast(colourIn(scheme, text), colourIn(scheme, ground))).toBeGreaterThanOrEqual(ENOUGH);
  });
});
