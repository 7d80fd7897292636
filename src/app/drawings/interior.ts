import { fade, glow } from './paint.ts';
import { forecourt } from './scene.ts';

export type Transmission = 'MANUAL' | 'AUTOMATIC';

/** What whoever sits in the back sees: the dashboard, the wheel on the right, the forecourt through the windscreen. */
export function interiorView(transmission: Transmission): string {
  return [
    `<g transform="translate(0 -165)">${forecourt()}</g>`,
    defs,
    glass,
    frame,
    dashboard,
    vent(70, 560, 130),
    vent(1428, 560, 130),
    binnacle,
    screen,
    vent(500, 520, 118),
    middle(transmission),
    climate,
    wheel,
    seats,
  ].join('');
}

const defs = [
  '<defs>',
  fade('lining', [
    [0, '#b9b4aa'],
    [1, '#d9d5cc'],
  ]),
  fade('trim', [
    [0, '#4a5157'],
    [0.12, '#3a4046'],
    [1, '#23282c'],
  ]),
  fade('lower', [
    [0, '#33393e'],
    [1, '#1d2124'],
  ]),
  fade('metal', [
    [0, '#dfe3e6'],
    [1, '#8d969d'],
  ]),
  fade('leather', [
    [0, '#2a2f33'],
    [1, '#14171a'],
  ]),
  fade('map', [
    [0, '#24455c'],
    [1, '#1a3143'],
  ]),
  fade('cushion', [
    [0, '#565d63'],
    [1, '#33393d'],
  ]),
  glow('dial', [
    [0, '#2b3a45'],
    [1, '#0d1216'],
  ]),
  '</defs>',
].join('');

const glass = '<g fill="#fff" opacity=".1"><path d="M330 60h150L300 470H150z"/><path d="M540 60h40L390 470h-40z"/></g>';

/** Roof lining with its visors, pillars, doors, the mirror. */
const frame = [
  '<path d="M0 0H1600V150C1300 82 1060 70 800 70S300 82 0 150Z" fill="url(#lining)"/>',
  '<path d="M0 150C300 82 540 70 800 70S1300 82 1600 150V138C1300 70 1060 58 800 58S300 70 0 138Z" fill="#8f8a80"/>',
  '<path d="M212 92L618 62Q636 60 636 44V26Q636 12 620 13L226 34Q206 36 204 54L198 80Q197 93 212 92Z" fill="#cbc6bc" stroke="#a29d92" stroke-width="3"/>',
  '<path d="M1388 92L982 62Q964 60 964 44V26Q964 12 980 13L1374 34Q1394 36 1396 54L1402 80Q1403 93 1388 92Z" fill="#cbc6bc" stroke="#a29d92" stroke-width="3"/>',
  '<path d="M196 98L246 92C190 220 130 360 96 500H0V430C60 320 130 200 196 98Z" fill="#3c4247"/>',
  '<path d="M1404 98L1354 92C1410 220 1470 360 1504 500H1600V430C1540 320 1470 200 1404 98Z" fill="#3c4247"/>',
  '<path d="M196 98L208 97C140 220 80 340 40 500H0V430C60 320 130 200 196 98Z" fill="#565d63"/>',
  '<path d="M1404 98L1392 97C1460 220 1520 340 1560 500H1600V430C1540 320 1470 200 1404 98Z" fill="#565d63"/>',
  '<rect x="788" y="56" width="24" height="46" fill="#24292d"/>',
  '<rect x="662" y="92" width="276" height="82" rx="34" fill="#1d2226"/>',
  '<rect x="674" y="102" width="252" height="62" rx="26" fill="#a9c3cf"/>',
  '<path d="M674 142C740 128 800 134 860 140S910 138 926 134V138Q926 164 900 164H700Q674 164 674 142Z" fill="#7d9c8c"/>',
  '<path d="M720 102h44l-40 62h-44z" fill="#fff" opacity=".22"/>',
].join('');

const dashboard = [
  '<path d="M0 492C140 452 420 430 700 428C860 426 960 428 1010 420C1060 396 1110 384 1180 384S1310 398 1352 424C1440 440 1530 462 1600 492V1000H0Z" fill="url(#trim)"/>',
  '<path d="M0 492C140 452 420 430 700 428C860 426 960 428 1010 420C1060 396 1110 384 1180 384S1310 398 1352 424C1440 440 1530 462 1600 492V502C1530 474 1440 452 1350 436C1308 410 1250 396 1180 396S1060 408 1012 432C960 440 860 438 700 440C420 442 140 464 0 502Z" fill="#6b747b" opacity=".8"/>',
  '<path d="M0 640C180 622 420 620 640 630V664C420 654 180 656 0 676Z" fill="url(#metal)"/>',
  '<path d="M960 630C1180 620 1420 622 1600 640V676C1420 656 1180 654 960 664Z" fill="url(#metal)"/>',
  '<path d="M0 676C180 656 420 654 640 664L610 1000H0Z" fill="url(#lower)"/>',
  '<path d="M1600 676C1420 656 1180 654 960 664L990 1000H1600Z" fill="url(#lower)"/>',
  '<path d="M150 716C280 702 440 702 560 710L548 832C430 826 290 828 172 838Z" fill="none" stroke="#0f1214" stroke-width="4" opacity=".7"/>',
  '<rect x="330" y="722" width="64" height="13" rx="6" fill="#0f1214" opacity=".8"/>',
].join('');

function vent(x: number, y: number, width: number): string {
  const slats = [18, 34, 50].map(
    (down) => `<path d="M${x + 12} ${y + down}h${width - 24}" stroke="#4b5359" stroke-width="5" stroke-linecap="round"/>`,
  );
  return `<rect x="${x}" y="${y - 4}" width="${width}" height="68" rx="16" fill="url(#metal)"/><rect x="${x + 5}" y="${y + 1}" width="${width - 10}" height="58" rx="12" fill="#111518"/>${slats.join('')}<rect x="${x + width / 2 - 5}" y="${y + 8}" width="10" height="44" rx="4" fill="#2a3035"/>`;
}

const dial = (x: number, turn: number): string => {
  const marks = Array.from({ length: 11 }, (_, i) => `<path d="M0-58V-${i % 2 === 0 ? 47 : 51}" transform="rotate(${-130 + i * 26})"/>`);
  return `<g transform="translate(${x} 498)"><circle r="72" fill="#3a444b"/><circle r="68" fill="url(#dial)"/><g stroke="#e8eef2" stroke-width="3.500" stroke-linecap="round">${marks.join('')}</g><path d="M-3 12L0-50L3 12Z" transform="rotate(${turn})" fill="#ff6a4d"/><circle r="10" fill="#0b0f12" stroke="#56616a" stroke-width="2"/></g>`;
};

const binnacle = [
  '<path d="M1006 600C1000 510 1030 440 1084 420C1150 402 1210 402 1276 420C1330 440 1360 510 1354 600Z" fill="#171b1e"/>',
  dial(1092, -96),
  dial(1268, -74),
  '<rect x="1150" y="468" width="60" height="76" rx="8" fill="#122330"/><path d="M1162 486h36M1162 502h26M1162 518h32" stroke="#7fb6d6" stroke-width="5" stroke-linecap="round"/>',
].join('');

/** A map with a way through it; no letter and no sign of anybody's. */
const screen = [
  '<rect x="642" y="446" width="336" height="204" rx="18" fill="#0c0f11"/>',
  '<rect x="644" y="448" width="332" height="200" rx="17" fill="none" stroke="#646d74" stroke-width="2"/>',
  '<clipPath id="display"><rect x="656" y="460" width="308" height="176" rx="8"/></clipPath>',
  '<g clip-path="url(#display)"><rect x="656" y="460" width="308" height="176" fill="url(#map)"/>',
  '<path d="M656 560C720 540 760 600 830 590S930 610 970 590V640H656Z" fill="#2f6a5b" opacity=".7"/>',
  '<g fill="none" stroke="#5d7f95" stroke-width="7"><path d="M640 500L990 540M720 440L760 660M880 440C860 520 900 560 870 660M640 600L980 480"/></g>',
  '<path d="M744 640L738 566L846 526L880 516L884 462" fill="none" stroke="#49b7ff" stroke-width="9" stroke-linejoin="round" stroke-linecap="round"/>',
  '<path d="M738 550l15 32-15-9-15 9z" fill="#fff"/>',
  '<rect x="656" y="460" width="44" height="176" fill="#0e1a24" opacity=".85"/><g fill="#9db6c6"><circle cx="678" cy="486" r="9"/><rect x="669" y="514" width="18" height="16" rx="4"/><path d="M668 566l10-12 10 12v12h-20z"/><circle cx="678" cy="610" r="9"/></g>',
  '<path d="M820 440h70L790 660h-70z" fill="#fff" opacity=".06"/></g>',
].join('');

const climate = [
  '<path d="M640 664H960L952 772H648Z" fill="#1b2023"/>',
  ...[700, 800, 900].map(
    (x) =>
      `<circle cx="${x}" cy="704" r="34" fill="url(#metal)"/><circle cx="${x}" cy="704" r="28" fill="#22282c"/><path d="M${x} 683v11" stroke="#fff" stroke-width="4" stroke-linecap="round"/>`,
  ),
  '<g fill="#343b40"><rect x="660" y="748" width="60" height="16" rx="5"/><rect x="728" y="748" width="60" height="16" rx="5"/><rect x="812" y="748" width="60" height="16" rx="5"/><rect x="880" y="748" width="60" height="16" rx="5"/></g><rect x="790" y="749" width="20" height="14" rx="4" fill="#c3383b"/>',
].join('');

function middle(transmission: Transmission): string {
  return [
    '<path d="M642 664H958L1010 1000H590Z" fill="url(#trim)"/>',
    '<path d="M662 792H938L966 1000H634Z" fill="#1a1e21"/>',
    '<path d="M642 770L590 1000h12L654 770ZM958 770L1010 1000h-12L946 770Z" fill="url(#metal)" opacity=".8"/>',
    `<g transform="translate(0 26)">${transmission === 'MANUAL' ? gearLever : selector}</g>`,
    '<g fill="#0c0f11" stroke="#545c62" stroke-width="4"><ellipse cx="686" cy="968" rx="40" ry="30"/><ellipse cx="914" cy="968" rx="40" ry="30"/></g>',
  ].join('');
}

const gearLever = [
  '<path d="M726 924Q800 950 874 924L826 858H774Z" fill="#2a3034"/><path d="M744 910Q800 930 856 910M758 890Q800 906 842 890" fill="none" stroke="#14181a" stroke-width="4"/>',
  '<rect x="792" y="806" width="16" height="70" rx="6" fill="url(#metal)"/>',
  '<path d="M768 810Q764 774 800 772Q836 774 832 810Q828 836 800 838Q772 836 768 810Z" fill="url(#leather)" stroke="#8d969d" stroke-width="3"/><path d="M784 792v22M800 790v24M816 792v22M784 803h32" stroke="#e6eaed" stroke-width="3" stroke-linecap="round" fill="none"/>',
].join('');

const selector = [
  '<rect x="742" y="812" width="116" height="116" rx="22" fill="#0f1214" stroke="url(#metal)" stroke-width="4"/>',
  '<g fill="#7b858c"><circle cx="842" cy="836" r="4"/><circle cx="842" cy="858" r="4"/><circle cx="842" cy="902" r="4"/></g><circle cx="842" cy="880" r="5" fill="#6fe08f"/>',
  '<path d="M762 880Q760 800 794 798Q828 800 826 880Q824 904 794 906Q764 904 762 880Z" fill="url(#leather)" stroke="#8d969d" stroke-width="3"/><path d="M776 822Q794 814 812 822" stroke="#a9b2b8" stroke-width="4" fill="none" stroke-linecap="round"/>',
].join('');

const wheel = [
  '<path d="M930 588L1040 610V628L928 606Q918 596 930 588ZM1430 588L1320 610V628L1432 606Q1442 596 1430 588Z" fill="#14181a"/>',
  '<g transform="translate(1180 690)">',
  '<circle r="214" fill="none" stroke="#0b0d0f" stroke-opacity=".35" stroke-width="44" cy="10"/>',
  '<path d="M-206 -18L-86 -34H86L206 -18V30L88 58Q60 96 30 104L26 206H-26L-30 104Q-60 96 -88 58L-206 30Z" fill="url(#lower)"/>',
  '<path d="M-20 112H20L18 200H-18Z" fill="url(#metal)" opacity=".75"/>',
  '<circle r="212" fill="none" stroke="#191d20" stroke-width="42"/>',
  '<circle r="224" fill="none" stroke="#4a5258" stroke-width="4"/>',
  '<path d="M-203 -62A212 212 0 0 1 -62 -203M62 -203A212 212 0 0 1 203 -62" fill="none" stroke="#3a4146" stroke-width="30"/>',
  '<path d="M-92 -40Q0 -56 92 -40Q98 20 80 52Q40 96 0 96T-80 52Q-98 20 -92 -40Z" fill="url(#trim)" stroke="#0e1113" stroke-width="4"/>',
  '<circle cy="14" r="30" fill="#2a3034" stroke="#5b646b" stroke-width="3"/>',
  '<g fill="#59636a"><rect x="-172" y="-14" width="26" height="20" rx="6"/><rect x="-138" y="-18" width="26" height="24" rx="6"/><rect x="112" y="-18" width="26" height="24" rx="6"/><rect x="146" y="-14" width="26" height="20" rx="6"/></g>',
  '</g>',
].join('');

/** The shoulders of the front seats, cut by the edge of the picture. */
const seats = [
  '<path d="M70 1000C74 940 110 912 180 906H470C530 912 560 944 562 1000Z" fill="url(#cushion)"/>',
  '<path d="M150 1000C152 962 170 944 210 940H430C470 944 486 964 488 1000" fill="none" stroke="#a9afb4" stroke-width="4" stroke-dasharray="10 7" opacity=".8"/>',
  '<path d="M1038 1000C1040 944 1070 912 1130 906H1420C1490 912 1526 940 1530 1000Z" fill="url(#cushion)"/>',
  '<path d="M1112 1000C1114 964 1130 944 1170 940H1390C1430 944 1448 962 1450 1000" fill="none" stroke="#a9afb4" stroke-width="4" stroke-dasharray="10 7" opacity=".8"/>',
].join('');
