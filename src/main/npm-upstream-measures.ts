import type { Measure } from '../http/metrics/measures.ts'
import { type UpstreamMeter, upstreamOutcomes } from '../protocols/npm/upstream/meter.ts'
import { upstreamReasons } from '../protocols/npm/upstream/trouble.ts'

/** What this process asked of the upstreams of npm repositories, and what became of it. */
export const npmUpstreamMeasures = ({ seen }: UpstreamMeter): readonly Measure[] => [
  {
    name: 'svc_npm_upstream_requests_total',
    help: 'Documents and tarballs of upstreams that clients asked for, by what became of it.',
    kind: 'counter',
    labels: ['of', 'outcome'],
    read: () =>
      (['document', 'tarball'] as const).flatMap((of) =>
        upstreamOutcomes.map((outcome) => ({
          labels: { of, outcome },
          value: seen.asked.get(`${of} ${outcome}`) ?? 0,
        })),
      ),
  },
  {
    name: 'svc_npm_upstream_failures_total',
    help: 'Questions to upstreams that failed, by why.',
    kind: 'counter',
    labels: ['reason'],
    read: () => upstreamReasons.map((reason) => ({ labels: { reason }, value: seen.failures.get(reason) ?? 0 })),
  },
  {
    name: 'svc_npm_upstream_changed_versions_total',
    help: 'Versions of which an upstream came to say other hashes than their tarballs have that are kept.',
    kind: 'counter',
    read: () => seen.changed,
  },
]
