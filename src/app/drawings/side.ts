import type { Paint } from './paint.ts';
import { fade, glow } from './paint.ts';
import { forecourt, standing } from './scene.ts';

/**
 * A car seen from the side, its nose to the left. In centimetres: x from the nose, y from the ground and negative upwards, so that the numbers
 * are those one measures on a car.
 */
export interface Side {
  readonly length: number;
  /** Where the wheels are, and how large. */
  readonly wheels: readonly [number, number];
  readonly radius: number;
  /** The lower edge between the wheels. */
  readonly sill: number;
  /** From the lower end of the front bumper over the roof to that of the rear one. */
  readonly outline: string;
  readonly windscreen: string;
  readonly rearScreen: string;
  readonly windows: readonly string[];
  /** The black pillar between the doors. */
  readonly pillar: string;
  /** Gaps between panels. */
  readonly gaps: readonly string[];
  readonly handles: readonly (readonly [number, number])[];
  /** The edge along the flank that catches the light. */
  readonly shoulder: string;
  readonly crease: string;
  readonly headlight: string;
  readonly tailLight: string;
  readonly mirror: readonly [number, number];
  readonly seats: readonly (readonly [number, number])[];
  readonly bumperFront: string;
  readonly bumperRear: string;
  readonly rails?: string;
  /** Unpainted edges around the wheels and along the sill, as cars for bad roads have. */
  readonly clad?: boolean;
}

const scale = 3;

/** The car on the forecourt. */
export function sideView(car: Side, paint: Paint): string {
  const left = (1600 - car.length * scale) / 2;
  return `${forecourt()}${defs(car, paint)}<g transform="translate(${left.toFixed(1)} ${standing}) scale(${scale})">${drawn(car)}</g>`;
}

function defs({ outline, windows, windscreen, rearScreen }: Side, { base, light, dark }: Paint): string {
  return [
    '<defs>',
    fade('body', [
      [0, light],
      [0.3, base],
      [0.62, base],
      [1, dark],
    ]),
    fade('glass', [
      [0, '#39505f'],
      [1, '#1c2830'],
    ]),
    fade('lamp', [
      [0, '#f7fbff'],
      [1, '#b7c9d6'],
    ]),
    fade('tail', [
      [0, '#f2545b'],
      [0.45, '#c3141f'],
      [1, '#7f0c15'],
    ]),
    fade('rim', [
      [0, '#f0f2f4'],
      [1, '#9ca4ab'],
    ]),
    glow('shade', [
      [0, '#20262b', 0.75],
      [0.65, '#20262b', 0.42],
      [1, '#20262b', 0],
    ]),
    `<clipPath id="outline"><path d="${outline}Z"/></clipPath>`,
    `<clipPath id="windows"><path d="${[...windows, windscreen, rearScreen].join('')}"/></clipPath>`,
    '</defs>',
  ].join('');
}

function drawn(car: Side): string {
  const { length, outline, wheels, radius, sill, windows, windscreen, rearScreen, gaps, handles, shoulder, crease, mirror } = car;
  const body = `${outline}${underside(car)}`;
  const [mx, my] = mirror;
  return [
    `<ellipse cx="${length / 2}" cy="1" rx="${length * 0.55}" ry="15" fill="url(#shade)"/>`,
    ...wheels.map((x) => `<ellipse cx="${x + 4}" cy="-1" rx="${radius * 1.1}" ry="6" fill="url(#shade)"/>`),
    ...wheels.map((x) => `<path d="M${x - radius - 5} ${sill - 4}V${-2 * radius - 6}H${x + radius + 5}V${sill - 4}Z" fill="#0e1114"/>`),
    `<path d="M${wheels[0]} ${sill + 6}H${wheels[1]}V-40H${wheels[0]}Z" fill="#15191c"/>`,
    `<path d="${body}" fill="url(#body)"/>`,
    '<g clip-path="url(#outline)">',
    `<path d="${shoulder}" fill="none" stroke="#fff" stroke-opacity=".3" stroke-width="1.5"/>`,
    `<path d="${shoulder}" transform="translate(0 -1.5)" fill="none" stroke="#000" stroke-opacity=".16" stroke-width="1.2"/>`,
    `<path d="${crease}" fill="none" stroke="#000" stroke-opacity=".14" stroke-width="1.6"/>`,
    `<path d="${crease}" transform="translate(0 1.5)" fill="none" stroke="#fff" stroke-opacity=".22" stroke-width="1.2"/>`,
    '</g>',
    `<path d="${car.bumperFront}${car.bumperRear}" fill="#1d2226"/>`,
    ...(car.clad ? [cladding(car)] : [`<path d="${strip(car, sill - 0.5, sill - 5)}" fill="#1d2226" opacity=".85"/>`]),
    `<path d="${car.pillar}" fill="#14181b"/>`,
    `<path d="${windscreen}${rearScreen}${windows.join('')}" fill="url(#glass)"/>`,
    `<g clip-path="url(#windows)">${inside(car)}${reflections(car)}</g>`,
    `<path d="${windows.join('')}" fill="none" stroke="#0e1215" stroke-width="1.5" stroke-linejoin="round"/>`,
    `<path d="${gaps.join('')}" fill="none" stroke="#000" stroke-opacity=".42" stroke-width=".9" stroke-linecap="round"/>`,
    ...handles.map(([x, y]) => handle(x, y)),
    `<path d="${car.headlight}" fill="url(#lamp)" stroke="#20282e" stroke-width="1.1" stroke-linejoin="round"/>`,
    `<path d="${car.tailLight}" fill="url(#tail)" stroke="#4a080f" stroke-width="1.1" stroke-linejoin="round"/>`,
    `<path transform="translate(${mx} ${my})" d="M-2 2C-11 2-14-3-13-7C-12-11-6-12 0-11C4-10 5-5 4 0Z" fill="url(#body)" stroke="#000" stroke-opacity=".35" stroke-width=".7"/>`,
    ...(car.rails ? [`<path d="${car.rails}" fill="none" stroke="#2b3136" stroke-width="2.6" stroke-linecap="round"/>`] : []),
    ...wheels.map((x) => wheel(x, radius)),
  ].join('');
}

/** Back from the rear bumper to the front one, around the wheels. */
function underside({ wheels: [front, rear], radius, sill }: Side): string {
  const arch = radius + 3.6;
  const half = Math.sqrt(arch ** 2 - (radius + sill) ** 2).toFixed(1);
  return `L${rear + Number(half)} ${sill}A${arch} ${arch} 0 1 0 ${rear - Number(half)} ${sill}L${front + Number(half)} ${sill}A${arch} ${arch} 0 1 0 ${front - Number(half)} ${sill}Z`;
}

/** Along the sill from arch to arch. */
function strip({ wheels: [front, rear], radius }: Side, bottom: number, top: number): string {
  const reach = (y: number) => Math.sqrt(Math.max((radius + 3.6) ** 2 - (radius + y) ** 2, 0));
  const at = (x: number, side: number, y: number) => `${(x + side * reach(y)).toFixed(1)} ${y}`;
  return `M${at(front, 1, bottom)}L${at(front, 1, top)}L${at(rear, -1, top)}L${at(rear, -1, bottom)}Z`;
}

function cladding(car: Side): string {
  const { wheels, radius, sill } = car;
  const arches = wheels.map((x) => {
    const [inner, outer] = [radius + 3.4, radius + 8.6];
    const [from, to] = [Math.sqrt(inner ** 2 - (radius + sill) ** 2), Math.sqrt(outer ** 2 - (radius + sill) ** 2)];
    return `<path d="M${x - from} ${sill}A${inner} ${inner} 0 1 1 ${x + from} ${sill}H${x + to}A${outer} ${outer} 0 1 0 ${x - to} ${sill}Z"/>`;
  });
  return `<g fill="#2b3034">${arches.join('')}<path d="${strip(car, sill, sill - 9)}"/></g>`;
}

/** Seats and a wheel to steer by, dim behind the glass. */
function inside({ seats }: Side): string {
  const drawnSeats = seats.map(
    ([x, y]) =>
      `<path d="M${x - 4} ${y + 40}L${x - 1} ${y + 4}Q${x} ${y - 1} ${x + 5} ${y - 1}H${x + 13}Q${x + 18} ${y - 1} ${x + 19} ${y + 5}L${x + 24} ${y + 40}ZM${x + 4} ${y - 3}L${x + 3} ${y - 13}Q${x + 4} ${y - 17} ${x + 8} ${y - 17}H${x + 13}Q${x + 17} ${y - 17} ${x + 17} ${y - 13}V${y - 3}Z"/>`,
  );
  const [driver] = seats;
  const steering =
    driver &&
    `<ellipse cx="${driver[0] - 36}" cy="${driver[1] + 10}" rx="4" ry="15" transform="rotate(24 ${driver[0] - 36} ${driver[1] + 10})" fill="none" stroke="#0d1317" stroke-width="3"/>`;
  return `<g fill="#0d1317" opacity=".62">${drawnSeats.join('')}${steering}</g>`;
}

/** Light that falls across the panes. */
function reflections({ length }: Side): string {
  const bands = [0.44, 0.52, 0.7, 0.76].map((part, i) => {
    const [x, width] = [length * part, i % 2 === 0 ? 17 : 6];
    return `<path d="M${x} -170h${width}l-34 80h-${width}z"/>`;
  });
  return `<g fill="#fff" opacity=".13">${bands.join('')}</g>`;
}

const handle = (x: number, y: number): string =>
  `<rect x="${x - 9}" y="${y + 1}" width="18" height="3.6" rx="1.8" fill="#000" opacity=".28"/><rect x="${x - 9}" y="${y - 1}" width="18" height="3.4" rx="1.7" fill="url(#body)" stroke="#000" stroke-opacity=".3" stroke-width=".5"/>`;

const spokes = [0, 72, 144, 216, 288];

function wheel(x: number, r: number): string {
  const rim = r * 0.72;
  const spoke = `<path d="M-2.2 -4L${-rim * 0.3} ${-rim * 0.93}Q${-rim * 0.2} ${-rim} ${-rim * 0.1} ${-rim * 0.95}L0 ${-rim * 0.35}L${rim * 0.1} ${-rim * 0.95}Q${rim * 0.2} ${-rim} ${rim * 0.3} ${-rim * 0.93}L2.2 -4Z"/>`;
  return [
    `<g transform="translate(${x} ${-r})">`,
    `<circle r="${r}" fill="#191c1f"/>`,
    `<circle r="${r * 0.93}" fill="none" stroke="#34393d" stroke-width="1"/>`,
    `<circle r="${rim + 1.4}" fill="url(#rim)"/>`,
    `<circle r="${rim - 0.8}" fill="#2a2f33"/>`,
    `<circle r="${rim * 0.6}" fill="#6d757b"/><circle r="${rim * 0.55}" fill="#5a6268"/>`,
    `<g fill="url(#rim)">${spokes.map((turn) => `<g transform="rotate(${turn})">${spoke}</g>`).join('')}</g>`,
    `<circle r="${rim * 0.24}" fill="#cdd2d6"/><circle r="${rim * 0.13}" fill="#4a5157"/>`,
    '</g>',
  ].join('');
}
