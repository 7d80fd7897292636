import { z } from 'zod';
import { dateTime, eventType } from '#platform/contract.ts';

const readers = ['website_themes:read'] as const;

/** A theme build as the API shows it (§11). */
export const themeGeneration = z
  .object({
    id: z.string().meta({ format: 'uuid' }),
    kind: z.enum(['generate', 'revise']),
    status: z.enum(['queued', 'started', 'succeeded', 'failed']),
    brief: z.string().nullable(),
    instruction: z.string().nullable(),
    base_version: z.int().nullable(),
    theme_version: z.int().nullable().describe('The draft it made, once succeeded.'),
    preview_url: z.string().nullable().describe('Signed, good for 30 minutes; once succeeded.'),
    preview_expires_at: dateTime.nullable(),
    progress: z.object({ stage: z.enum(['planning', 'designing', 'building', 'checking']), percent: z.int() }).nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    requested_by: z.object({ id: z.string().nullable(), name: z.string(), kind: z.string() }),
    quota: z.object({ limit: z.int(), used: z.int(), resets_at: dateTime }),
    created_at: dateTime,
    started_at: dateTime.nullable(),
    finished_at: dateTime.nullable(),
    updated_at: dateTime,
  })
  .meta({ id: 'ThemeGeneration' });

const generationEvent = (state: string, summary: string) =>
  eventType({ type: `theme_generation.${state}`, summary, object: themeGeneration, scopes: readers });

export const themeEvents = [
  generationEvent('started', 'A theme build began.'),
  generationEvent('succeeded', 'A theme build made a draft version.'),
  generationEvent('failed', 'A theme build came to nothing.'),
];
