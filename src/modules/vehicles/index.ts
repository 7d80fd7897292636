export { acceptBatch, getBatch, writeRemaining } from './batch.ts';
export { createVehicle, deleteVehicle, eraseStock, moveForDeal, putOnOrder, stampBranch, stockUsed, updateVehicle } from './commands.ts';
export type { NewVehicle } from './contract.ts';
export { getVehicle, listVehicles } from './reads.ts';
export { titleOf } from './view.ts';
