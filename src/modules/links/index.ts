export type { Link } from './contract.ts';
export type { Found } from './queries.ts';
export { findLinks, summaryOf } from './queries.ts';
export { checkLinks, linksIn, newLinks } from './rules.ts';
export { summaryNow } from './view.ts';
