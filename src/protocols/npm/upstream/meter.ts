import type { UpstreamReason } from './trouble.ts'

/** What is asked for: the document of a package, or the tarball of a version. */
type Asked = 'document' | 'tarball'

/**
 * What became of it: it was here and new enough; the upstream was asked and said that what is here is the newest; it
 * was fetched; what is here was sent although the upstream could not be asked; the upstream has none; it failed.
 */
export const upstreamOutcomes = ['hit', 'confirmed', 'fetched', 'stale', 'missing', 'failed'] as const
type UpstreamOutcome = (typeof upstreamOutcomes)[number]

/** What was asked of upstreams, or would have been, since the process started; for its metrics. */
export interface UpstreamMeter {
  count(what: Asked, outcome: UpstreamOutcome): void
  failed(reason: UpstreamReason): void
  /** Versions of which an upstream says other hashes than their tarballs have that are kept. */
  changed(versions: number): void
  readonly seen: {
    readonly asked: ReadonlyMap<`${Asked} ${UpstreamOutcome}`, number>
    readonly failures: ReadonlyMap<UpstreamReason, number>
    readonly changed: number
  }
}

export const createUpstreamMeter = (): UpstreamMeter => {
  const asked = new Map<`${Asked} ${UpstreamOutcome}`, number>()
  const failures = new Map<UpstreamReason, number>()
  const seen = { asked, failures, changed: 0 }
  return {
    count(what, outcome) {
      asked.set(`${what} ${outcome}`, (asked.get(`${what} ${outcome}`) ?? 0) + 1)
    },
    failed(reason) {
      failures.set(reason, (failures.get(reason) ?? 0) + 1)
    },
    changed(versions) {
      seen.changed += versions
    },
    seen,
  }
}
