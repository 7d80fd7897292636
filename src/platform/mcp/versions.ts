/** The versions of the protocol that are spoken, the current one first. */
export const versions = ['2025-06-18', '2025-03-26', '2024-11-05'] as const;

/** The version to go on with: the one asked for where it is spoken, else the current one, which the other side may decline. */
export const negotiated = (asked: unknown): string => versions.find((version) => version === asked) ?? versions[0];

/** Whether a request may go on with what its header names. Without one 2025-03-26 is meant, which is spoken. */
export const isSpoken = (header: unknown): boolean => header === undefined || versions.some((version) => version === header);
