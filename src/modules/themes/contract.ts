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

type Generation = z.output<typeof themeGeneration>;

const asked: Generation = {
  id: 'b1f0a1de-6a2e-4b54-8a6a-0d7a3c5e9f20',
  kind: 'generate',
  status: 'started',
  brief: 'A calm, light website for a family-run dealership: large photos, opening hours on every page.',
  instruction: null,
  base_version: null,
  theme_version: null,
  preview_url: null,
  preview_expires_at: null,
  progress: { stage: 'planning', percent: 0 },
  error: null,
  requested_by: { id: null, name: 'A key', kind: 'key' },
  quota: { limit: 30, used: 1, resets_at: '2026-02-01T00:00:00Z' },
  created_at: '2026-01-31T09:30:00Z',
  started_at: '2026-01-31T09:30:00Z',
  finished_at: null,
  updated_at: '2026-01-31T09:30:00Z',
};

const finished = { progress: null, finished_at: '2026-01-31T09:33:10Z', updated_at: '2026-01-31T09:33:10Z' };

const generationEvent = (status: Generation['status'], summary: string, reached: Partial<Generation> = {}) =>
  eventType({
    type: `theme_generation.${status}`,
    summary,
    object: themeGeneration,
    scopes: readers,
    example: { ...asked, ...reached, status },
  });

export const themeEvents = [
  generationEvent('started', 'A theme build began.'),
  generationEvent('succeeded', 'A theme build made a draft version.', { ...finished, theme_version: 1 }),
  generationEvent('failed', 'A theme build came to nothing.', {
    ...finished,
    error: { code: 'build_failed', message: 'The build did not end well. It does not count.' },
  }),
];
