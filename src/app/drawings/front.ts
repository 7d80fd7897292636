import type { Paint } from './paint.ts';
import { fade, glow } from './paint.ts';
import { canvas, forecourt, standing } from './scene.ts';

/** A car seen from the front, in centimetres: x from the middle, y from the ground and negative upwards. Left and right are the same. */
export interface Front {
  /** To the outer edge of a wing. */
  readonly half: number;
  readonly roof: number;
  /** Half the roof. */
  readonly roofHalf: number;
  /** Where the windscreen begins, where the bonnet ends, where the bumper ends. */
  readonly screen: number;
  readonly edge: number;
  readonly bottom: number;
  /** Bars across the grille. */
  readonly bars: number;
  readonly rails?: boolean;
  readonly clad?: boolean;
}

/** Every body of the stock from the front. */
export const fronts = {
  HATCHBACK: { half: 89, roof: -146, roofHalf: 54, screen: -101, edge: -75, bottom: -17, bars: 2 },
  SALOON: { half: 91, roof: -142, roofHalf: 53, screen: -98, edge: -73, bottom: -16, bars: 4 },
  ESTATE: { half: 90, roof: -147, roofHalf: 54, screen: -99, edge: -74, bottom: -17, bars: 3, rails: true },
  SUV: { half: 93, roof: -162, roofHalf: 58, screen: -113, edge: -90, bottom: -22, bars: 3, rails: true, clad: true },
} as const satisfies Record<string, Front>;

const scale = 4.3;

/** The car on the forecourt, looking at whoever looks at it. */
export function frontView(car: Front, paint: Paint): string {
  const place = `translate(${canvas.width / 2} ${standing + 55}) scale(${scale})`;
  return `${forecourt()}${defs(paint)}<g transform="${place}">${drawn(car)}</g>`;
}

const defs = ({ base, light, dark }: Paint): string =>
  [
    '<defs>',
    fade('face', [
      [0, light],
      [0.25, base],
      [0.6, base],
      [1, dark],
    ]),
    fade('bonnet', [
      [0, light],
      [1, base],
    ]),
    fade('screen', [
      [0, '#2c3f4b'],
      [1, '#4a6472'],
    ]),
    fade('lens', [
      [0, '#eef5fa'],
      [1, '#9fb3c0'],
    ]),
    fade('plate', [
      [0, '#ffffff'],
      [1, '#e4e7e9'],
    ]),
    glow('shade', [
      [0, '#20262b', 0.8],
      [0.65, '#20262b', 0.45],
      [1, '#20262b', 0],
    ]),
    '</defs>',
  ].join('');

function drawn(car: Front): string {
  return [
    `<ellipse cy="1" rx="${car.half * 1.3}" ry="10" fill="url(#shade)"/>`,
    both(`<ellipse cx="${car.half - 15}" cy="0" rx="17" ry="4" fill="url(#shade)"/>${wheels(car)}`),
    `<path d="M${-car.half + 12} ${car.bottom + 5}H${car.half - 12}V${car.bottom - 12}H${-car.half + 12}Z" fill="#12161a"/>`,
    ...(car.rails
      ? [both(`<path d="M${car.roofHalf - 9} ${car.roof + 4}v-3.5q0-1.5 1.5-1.5h2.5q1.5 0 1.5 1.5v4.5z" fill="#2b3136"/>`)]
      : []),
    whole(cabin(car), 'fill="url(#face)"'),
    whole(windscreen(car), 'fill="url(#screen)" stroke="#12171b" stroke-width="1.4"'),
    behindScreen(car),
    both(mirror(car)),
    whole(face(car), 'fill="url(#face)"'),
    whole(bonnet(car), 'fill="url(#bonnet)"'),
    whole(bonnet(car), 'fill="none" stroke="#000" stroke-opacity=".3" stroke-width=".7"'),
    both(creases(car)),
    both(lamps(car)),
    grille(car),
    bumper(car),
  ].join('');
}

/** A part and its mirror image. */
const both = (part: string): string => `${part}<g transform="scale(-1 1)">${part}</g>`;

/** A shape closed across the middle, given as the corners of its right half; each may carry the two points its curve leans on. */
function whole(half: readonly (readonly number[])[], look: string): string {
  const right = half.map((points, i) => (i === 0 ? `M${points.join(' ')}` : `${points.length === 2 ? 'L' : 'C'}${points.join(' ')}`));
  const back = half.slice(1).map((points, i) => ({ from: half[i]!.slice(-2), points }));
  const left = back.reverse().map(({ from: [x = 0, y = 0], points }) => {
    if (points.length === 2) return `L${-x} ${y}`;
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = points;
    return `C${-x2} ${y2} ${-x1} ${y1} ${-x} ${y}`;
  });
  const [x = 0, y = 0] = half.at(-1)!.slice(-2);
  return `<path d="${right.join('')}L${-x} ${y}${left.join('')}Z" ${look}/>`;
}

const cabin = ({ roof, roofHalf, screen, half }: Front) => [
  [0, roof],
  [roofHalf * 0.5, roof, roofHalf * 0.86, roof + 1, roofHalf, roof + 6],
  [roofHalf + 9, roof + 18, half - 14, screen - 16, half - 8, screen + 6],
  [half - 8, screen + 14],
];

const windscreen = ({ roof, roofHalf, screen, half }: Front) => [
  [0, roof + 7],
  [roofHalf * 0.5, roof + 7, roofHalf * 0.8, roof + 7.5, roofHalf - 4, roof + 10],
  [roofHalf + 3, roof + 20, half - 22, screen - 14, half - 18, screen + 1],
  [half - 18, screen + 6],
];

const face = ({ screen, edge, bottom, half }: Front) => [
  [0, screen + 4],
  [half - 16, screen + 4],
  [half - 6, screen + 8, half - 1, edge - 12, half, edge + 2],
  [half + 1, edge + 18, half + 1, bottom - 22, half - 1, bottom - 14],
  [half - 4, bottom - 4, half - 12, bottom, half - 24, bottom],
];

const bonnet = ({ screen, edge, half }: Front) => [
  [0, screen - 1],
  [half * 0.4, screen - 1, half * 0.66, screen, half - 16, screen + 3],
  [half - 10, screen + 9, half - 9, edge - 8, half - 12, edge - 4],
  [half - 34, edge + 2, half * 0.3, edge + 3.5, 0, edge + 3.5],
];

function wheels({ half, bottom }: Front): string {
  return `<rect x="${half - 26}" y="${bottom - 20}" width="22" height="${20 - bottom}" rx="4.5" fill="#15181b"/><path d="M${half - 22} ${bottom}V-3M${half - 17} ${bottom}V-2M${half - 12} ${bottom}V-2M${half - 8} ${bottom}V-3" stroke="#2e3438" stroke-width="1"/>`;
}

/** Two seats and a wheel on the right of whoever drives, and the light that falls across. */
function behindScreen({ roof, screen }: Front): string {
  const height = screen - roof;
  const seat = (x: number) =>
    `<path d="M${x - 17} ${screen}q0-${height * 0.4} 8-${height * 0.42}h18q8 0 8 ${height * 0.42}zM${x - 8} ${screen - height * 0.45}v-8q0-4 4-4h8q4 0 4 4v8z"/>`;
  return [
    `<g fill="#16212a" opacity=".6">${seat(-34)}${seat(34)}</g>`,
    `<path d="M-50 ${screen + 2}a17 17 0 0 1 32 0" fill="none" stroke="#10181d" stroke-width="3" opacity=".8"/>`,
    `<rect x="-8" y="${roof + 10}" width="16" height="5.500" rx="2" fill="#10181d"/>`,
    `<g fill="#fff" opacity=".14"><path d="M22 ${roof + 8}h17l-22 ${height - 6}h-17z"/><path d="M45 ${roof + 9}h5l-22 ${height - 7}h-5z"/></g>`,
    `<path d="M-52 ${screen + 3}q26-6 50-4M2 ${screen + 3}q26-6 50-4" fill="none" stroke="#11171b" stroke-width="1.8" stroke-linecap="round"/>`,
  ].join('');
}

function mirror({ half, screen }: Front): string {
  const [x, y] = [half - 12, screen - 1];
  return `<path d="M${x - 4} ${y + 2}L${x + 4} ${y - 3}V${y}L${x - 3} ${y + 6}Z" fill="#1d2226"/><path d="M${x + 3} ${y}C${x + 2} ${y - 9} ${x + 6} ${y - 12} ${x + 12} ${y - 12}C${x + 20} ${y - 12} ${x + 22} ${y - 8} ${x + 21} ${y - 2}C${x + 20} ${y + 3} ${x + 5} ${y + 4} ${x + 3} ${y}Z" fill="url(#face)" stroke="#000" stroke-opacity=".35" stroke-width=".7"/>`;
}

const creases = ({ half, screen, edge }: Front): string =>
  `<path d="M${half * 0.5} ${screen + 5}C${half * 0.47} ${edge - 14} ${half * 0.42} ${edge - 6} ${half * 0.36} ${edge - 1}" fill="none" stroke="#000" stroke-opacity=".16" stroke-width="1"/><path d="M${half * 0.5 - 1.2} ${screen + 5}C${half * 0.47 - 1.2} ${edge - 14} ${half * 0.42 - 1.2} ${edge - 6} ${half * 0.36 - 1.2} ${edge - 1}" fill="none" stroke="#fff" stroke-opacity=".3" stroke-width=".9"/>`;

function lamps({ half, edge, bottom, clad }: Front): string {
  const outer = half - 2;
  const inner = half * 0.5;
  const fog = clad ? bottom - 16 : bottom - 14;
  return [
    `<path d="M${inner} ${edge + 9}C${inner + 14} ${edge + 4} ${outer - 14} ${edge - 5} ${outer} ${edge - 6}C${outer + 2} ${edge + 4} ${outer + 1} ${edge + 11} ${outer - 2} ${edge + 15}C${outer - 16} ${edge + 19} ${inner + 10} ${edge + 18} ${inner} ${edge + 13}Z" fill="#1a2126"/>`,
    `<path d="M${inner + 4} ${edge + 10.5}C${inner + 16} ${edge + 6} ${outer - 13} ${edge - 2} ${outer - 2} ${edge - 3}C${outer} ${edge + 4} ${outer - 1} ${edge + 9} ${outer - 4} ${edge + 12.5}C${outer - 16} ${edge + 16} ${inner + 12} ${edge + 15} ${inner + 4} ${edge + 12.5}Z" fill="url(#lens)"/>`,
    `<circle cx="${outer - 11}" cy="${edge + 6}" r="5" fill="#33434e"/><circle cx="${outer - 11}" cy="${edge + 6}" r="3.400" fill="#dfeaf2"/><circle cx="${outer - 24}" cy="${edge + 9}" r="3.600" fill="#33434e"/><circle cx="${outer - 24}" cy="${edge + 9}" r="2.300" fill="#dfeaf2"/>`,
    `<path d="M${inner + 15} ${fog - 4}L${half - 6} ${fog - 11}L${half - 7} ${fog + 4}L${inner + 20} ${fog + 6}Z" fill="#1d2327"/><circle cx="${half - 16}" cy="${fog - 1.5}" r="3.800" fill="#cfdbe2"/><circle cx="${half - 16}" cy="${fog - 1.5}" r="2.200" fill="#f4f9fc"/>`,
  ].join('');
}

function grille({ half, edge, bars }: Front): string {
  const [wide, top, deep] = [half * 0.47, edge + 8, 12];
  const lines = Array.from({ length: bars }, (_, i) => top + ((i + 1) * deep) / (bars + 1));
  return [
    `<path d="M${-wide} ${top}Q0 ${top + 2} ${wide} ${top}L${wide - 5} ${top + deep}Q0 ${top + deep + 2} ${-wide + 5} ${top + deep}Z" fill="#161b1f" stroke="#aeb6bc" stroke-width="1.200" stroke-linejoin="round"/>`,
    ...lines.map((y) => `<path d="M${-wide + 4} ${y}Q0 ${y + 2} ${wide - 4} ${y}" fill="none" stroke="#7d878e" stroke-width="1"/>`),
  ].join('');
}

function bumper({ half, edge, bottom, clad }: Front): string {
  const plate = edge + 25.5;
  const wide = half * 0.62;
  const skirt = clad
    ? [
        [0, bottom - 11],
        [half - 30, bottom - 11],
        [half - 14, bottom - 13, half - 4, bottom - 17, half + 0.3, bottom - 24],
        [half - 1, bottom - 12],
        [half - 4, bottom - 3, half - 12, bottom + 1, half - 24, bottom + 1],
      ]
    : null;
  return [
    skirt ? whole(skirt, 'fill="#2b3034"') : '',
    `<path d="M${-wide + 4} ${bottom - 17}Q0 ${bottom - 19} ${wide - 4} ${bottom - 17}L${wide} ${bottom - 5}Q0 ${bottom - 3} ${-wide} ${bottom - 5}Z" fill="#171c20"/>`,
    `<path d="M${-wide + 6} ${bottom - 12}Q0 ${bottom - 13} ${wide - 6} ${bottom - 12}M${-wide + 4} ${bottom - 8.5}Q0 ${bottom - 8.5} ${wide - 4} ${bottom - 8.5}" fill="none" stroke="#343b40" stroke-width="1.200"/>`,
    `<path d="M${-half + 3} ${edge + 22}Q0 ${edge + 27} ${half - 3} ${edge + 22}" fill="none" stroke="#000" stroke-opacity=".14" stroke-width="1"/>`,
    `<rect x="-26.500" y="${plate - 1}" width="53" height="12" rx="1.500" fill="#20262b"/><rect x="-25.500" y="${plate}" width="51" height="10" rx="1" fill="url(#plate)"/>`,
  ].join('');
}
