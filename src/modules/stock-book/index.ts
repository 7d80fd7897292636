export { listStockBook } from './reads.ts';
