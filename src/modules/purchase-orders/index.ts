export type { NewPurchaseOrder, PurchaseOrder } from './commands.ts';
export { cancelPurchaseOrder, createPurchaseOrder, erasePurchaseOrders, receivePurchaseOrder } from './commands.ts';
