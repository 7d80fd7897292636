import { fade, glow } from './paint.ts';

/** What every drawing is drawn on. */
export const canvas = { width: 1600, height: 1000 } as const;

/** Where the wheels stand. */
export const standing = 835;

const horizon = 585;

/** A dealership's forecourt on a mild day, pale enough to stay behind the car. */
export const forecourt = (): string =>
  [
    '<defs>',
    fade('sky', [
      [0, '#a9cfe8'],
      [0.6, '#dcebf2'],
      [1, '#f6f1e6'],
    ]),
    fade('ground', [
      [0, '#c3c6c6'],
      [0.35, '#b4b8ba'],
      [1, '#989ea3'],
    ]),
    fade('pane', [
      [0, '#8fb3c4'],
      [0.55, '#bcd4dc'],
      [1, '#dbe5e4'],
    ]),
    fade('fascia', [
      [0, '#f5f6f6'],
      [1, '#d9dee1'],
    ]),
    glow('sun', [
      [0, '#fffdf2', 0.95],
      [1, '#fffdf2', 0],
    ]),
    '</defs>',
    `<rect width="1600" height="${horizon + 5}" fill="url(#sky)"/>`,
    '<circle cx="1330" cy="170" r="330" fill="url(#sun)"/>',
    cloud(210, 150, 1.15),
    cloud(760, 95, 0.8),
    cloud(1180, 205, 0.95),
    `<path d="M0 520C120 470 240 480 360 505S640 470 800 490 1120 450 1280 480 1500 490 1600 470V${horizon}H0Z" fill="#b9d0c4"/>`,
    `<path d="M0 552C140 520 260 540 420 545S720 528 900 540 1300 515 1600 535V${horizon}H0Z" fill="#a3c0ae"/>`,
    tree(92, 1.1),
    tree(196, 0.82),
    tree(1440, 0.9),
    tree(1538, 1.2),
    showroom(),
    `<rect y="${horizon}" width="1600" height="${1000 - horizon}" fill="url(#ground)"/>`,
    `<path d="M0 ${horizon}H1600V${horizon + 12}H0Z" fill="#d9dad6"/>`,
    `<path d="M0 ${horizon + 12}H1600V${horizon + 17}H0Z" fill="#8f9598" opacity=".55"/>`,
    bays(),
  ].join('');

function cloud(x: number, y: number, size: number): string {
  const puffs = [
    [0, 0, 62, 26],
    [58, -16, 60, 34],
    [122, -2, 66, 27],
    [64, 10, 120, 19],
  ];
  const drawn = puffs.map(([cx, cy, rx, ry]) => `<ellipse cx="${cx}" cy="${cy}" rx="${rx}" ry="${ry}"/>`).join('');
  return `<g transform="translate(${x} ${y}) scale(${size})" fill="#fff" opacity=".75">${drawn}</g>`;
}

function tree(x: number, size: number): string {
  return `<g transform="translate(${x} ${horizon}) scale(${size})"><rect x="-6" y="-70" width="12" height="72" fill="#8b7f6f"/><ellipse cy="-135" rx="58" ry="82" fill="#7fa78a"/><ellipse cx="-16" cy="-158" rx="34" ry="48" fill="#93b89b"/></g>`;
}

/** A long glass front under a flat roof, with cars behind it that are only hinted at. */
function showroom(): string {
  const [left, right, top, eaves] = [300, 1330, 318, 372];
  const panes = Array.from({ length: 9 }, (_, i) => left + 20 + i * 111);
  return [
    `<rect x="${left}" y="${eaves}" width="${right - left}" height="${horizon - eaves}" fill="#e9ecec"/>`,
    `<rect x="${left + 14}" y="${eaves}" width="${right - left - 28}" height="${horizon - eaves - 8}" fill="url(#pane)"/>`,
    `<g fill="#7e9dab" opacity=".5">${shownCar(430)}${shownCar(770)}${shownCar(1080)}</g>`,
    `<g fill="#fff" opacity=".16">${panes.map((x) => `<path d="M${x + 52} ${eaves}h34l-64 ${horizon - eaves - 8}h-34z"/>`).join('')}</g>`,
    `<g fill="#f1f4f4">${panes.map((x) => `<rect x="${x - 6}" y="${eaves}" width="6" height="${horizon - eaves - 8}"/>`).join('')}</g>`,
    `<rect x="${left - 26}" y="${top}" width="${right - left + 52}" height="${eaves - top}" rx="4" fill="url(#fascia)"/>`,
    `<rect x="${left - 26}" y="${eaves - 8}" width="${right - left + 52}" height="8" fill="#3d7ea6" opacity=".75"/>`,
    `<rect x="${left}" y="${eaves}" width="${right - left}" height="16" fill="#51707e" opacity=".28"/>`,
  ].join('');
}

const shownCar = (x: number): string =>
  `<path transform="translate(${x} ${horizon - 8}) scale(.9)" d="M-88 0V-18C-88-34-60-40-38-44C-14-66 6-76 40-74C66-72 78-56 92-44C100-40 102-20 100 0Z"/>`;

/** Lines of parking bays, running towards a point behind the showroom. */
function bays(): string {
  const lines = [-1500, -860, -220, 420, 1060, 1700, 2340, 2980].map((foot) => {
    const at = (y: number) => 800 + (foot - 800) * ((y - 430) / (1000 - 430));
    const half = (y: number) => (9 * (y - 430)) / (1000 - 430);
    return `<path d="M${round(at(640) - half(640))} 640H${round(at(640) + half(640))}L${round(at(1000) + half(1000))} 1000H${round(at(1000) - half(1000))}Z"/>`;
  });
  return `<g fill="#eef0ef" opacity=".6">${lines.join('')}</g>`;
}

const round = (value: number): string => value.toFixed(1);
