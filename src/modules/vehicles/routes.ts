import { answer, answerAs } from '#platform/http/answer.ts';
import { acceptBatch, getBatch, listBatches, tryBatch } from './batch.ts';
import { createVehicle, deleteVehicle, updateVehicle } from './commands.ts';
import * as contract from './contract.ts';
import { getVehicle, listVehicles } from './reads.ts';

export const vehicleRoutes = [
  answer(contract.listVehicles, (ctx, { query }) => listVehicles(ctx, query)),
  answer(contract.getVehicle, (ctx, { params }) => getVehicle(ctx, params.id)),
  answer(contract.createVehicle, (ctx, { body }) => createVehicle(ctx, body)),
  answer(contract.updateVehicle, (ctx, { params, body }) => updateVehicle(ctx, params.id, body)),
  answer(contract.deleteVehicle, (ctx, { params }) => deleteVehicle(ctx, params.id)),
  answer(contract.upsertVehicles, async (ctx, { query, body }) =>
    query.dry_run ? answerAs(200, await tryBatch(ctx, body)) : acceptBatch(ctx, body),
  ),
  answer(contract.getVehicleBatch, (ctx, { params }) => getBatch(ctx, params.id)),
  answer(contract.listVehicleBatches, (ctx, { query }) => listBatches(ctx, query)),
];
