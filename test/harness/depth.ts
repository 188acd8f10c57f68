const depth = Number(process.env['SVC_TEST_DEPTH'] ?? 1)
const added = Number(process.env['SVC_TEST_SEED'] ?? 0)

/**
 * How a model is walked through: as often as says enough of every change, SVC_TEST_DEPTH times as often for a night.
 * SVC_TEST_SEED makes other walks. What a walk finds may depend on those before it, so that none is made smaller.
 */
export const walks = (numRuns: number, seed: number) =>
  ({ numRuns: numRuns * depth, seed: seed + added, endOnFailure: true }) as const
