import { fronts, frontView } from './front.ts';
import type { Transmission } from './interior.ts';
import { interiorView } from './interior.ts';
import type { Colour } from './paint.ts';
import { paints } from './paint.ts';
import { canvas } from './scene.ts';
import { sideView } from './side.ts';
import { sides } from './sides.ts';

/** A picture of a car to be: two of the same name are the same. */
export interface Drawing {
  readonly name: string;
  /** What it shows, as words after the car's name. */
  readonly view: string;
  readonly svg: () => string;
}

/** Bodies that can be drawn. */
export type Body = keyof typeof sides & keyof typeof fronts;

/** What a car looks like. */
export interface Look {
  readonly body_type: Body;
  readonly colour: Colour;
  readonly transmission: Transmission;
}

/** The pictures there can be of a car. */
export const drawingsOf = ({ body_type: body, colour, transmission }: Look) =>
  ({
    side: { name: `side ${body} ${colour}`, view: 'from the side', svg: () => whole(sideView(sides[body], paints[colour])) },
    front: { name: `front ${body} ${colour}`, view: 'from the front', svg: () => whole(frontView(fronts[body], paints[colour])) },
    interior: { name: `interior ${transmission}`, view: 'from inside', svg: () => whole(interiorView(transmission)) },
  }) satisfies Record<string, Drawing>;

const { width, height } = canvas;
const whole = (content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${content}</svg>`;
