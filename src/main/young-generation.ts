import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { youngGenerationBytesMax } from '../kernel/limits/process.ts'

/**
 * Keeps the part of the heap small in which V8 makes what soon is garbage. Left to itself it grows to 64 MiB under
 * load, and what is garbage in it holds pieces of files that were passed on long ago: a service that receives one large
 * file took 60 MiB more, and no less time. The option of Node that bounds it stands on the command line, which is not
 * ours; how it grows may be said at any time. It is looked at when the collector ran, which is what lets it grow.
 */
export const boundYoungGeneration = (): void => {
  const decide = (): void => {
    const size = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0
    setFlagsFromString(`--semi-space-growth-factor=${size < youngGenerationBytesMax ? 2 : 1}`)
  }
  decide()
  new PerformanceObserver(decide).observe({ entryTypes: ['gc'] })
}
