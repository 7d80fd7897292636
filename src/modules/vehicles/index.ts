export { acceptBatch, getBatch, writeRemaining } from './batch.ts';
export {
  createVehicle,
  deleteVehicle,
  eraseStock,
  moveForDeal,
  putOnOrder,
  setPreparation,
  stampBranch,
  stockUsed,
  takeInExchange,
  updateVehicle,
} from './commands.ts';
export type { NewVehicle } from './contract.ts';
export { addPictures } from './photo-commands.ts';
export { stampVehicles } from './queries.ts';
export { getVehicle, listVehicles } from './reads.ts';
export { checkCostsScope } from './rules.ts';
export { titleOf } from './view.ts';
