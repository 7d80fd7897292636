/** A colour in the three tones a body is painted with. */
export interface Paint {
  readonly base: string;
  readonly light: string;
  readonly dark: string;
}

/** The colours the drawings know, by the name a vehicle gives them. */
export const paints = {
  Blue: { light: '#4d8fd1', base: '#1f62ad', dark: '#123f78' },
  Black: { light: '#565c66', base: '#2a2e35', dark: '#14161a' },
  White: { light: '#ffffff', base: '#eef1f4', dark: '#bcc5cf' },
  Grey: { light: '#8a949e', base: '#5f6973', dark: '#3d454d' },
  Red: { light: '#e0574d', base: '#b9262b', dark: '#7d1319' },
  Silver: { light: '#eef1f3', base: '#c3cad0', dark: '#8d969f' },
} as const satisfies Record<string, Paint>;

export type Colour = keyof typeof paints;

/** Shapes filled from top to bottom with these tones, each `[part of the way, colour, opacity]`. */
export function fade(
  id: string,
  stops: readonly (readonly [number, string, number?])[],
  direction = 'x1="0" y1="0" x2="0" y2="1"',
): string {
  return `<linearGradient id="${id}" ${direction}>${stopsOf(stops)}</linearGradient>`;
}

/** The same from the middle outwards. */
export function glow(id: string, stops: readonly (readonly [number, string, number?])[]): string {
  return `<radialGradient id="${id}">${stopsOf(stops)}</radialGradient>`;
}

const stopsOf = (stops: readonly (readonly [number, string, number?])[]): string =>
  stops.map(([at, colour, opacity = 1]) => `<stop offset="${at}" stop-color="${colour}" stop-opacity="${opacity}"/>`).join('');
