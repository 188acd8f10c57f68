import { aligned, shown } from '../table.ts'
import type { Met, Pace } from './measuring.ts'

/** How it went beside one neighbour. */
export interface Beside extends Met {
  readonly neighbour: string
  /** Processors in use meanwhile: by the service and by the neighbours. */
  readonly cores: number
  readonly theirCores: number
  readonly peakMiB: number
}

type Column = readonly [title: string, cell: (beside: Beside) => string]

const times = (ratio: number): string => `x${ratio.toFixed(ratio < 1 ? 2 : ratio < 10 ? 1 : 0)}`

/** Figures beside each neighbour, and how many times those of the first, when nobody was there. */
export const resultTables = (all: readonly Beside[]): string => {
  const [idle] = all
  const against =
    (of: (met: Met) => number) =>
    (met: Beside): string =>
      `${shown(of(met))} ${times(of(met) / (idle === undefined ? Number.NaN : of(idle))).padStart(5)}`
  const paces = (what: string, of: (met: Met) => Pace): Column[] => [
    [`${what} p50 ms`, against((met) => of(met).p50)],
    ['p99 ms', against((met) => of(met).p99)],
    ['1/s', against((met) => of(met).perSecond)],
  ]
  const tableOf = (columns: readonly Column[]): string =>
    aligned([
      ['beside', ...columns.map(([title]) => title)],
      ...all.map((met) => [met.neighbour, ...columns.map(([, cell]) => cell(met))]),
    ])
  const small = tableOf([...paces('GET', ({ get }) => get), ...paces('PUT', ({ put }) => put)])
  const rest = tableOf([
    ['probe p99 ms', against(({ probe }) => probe.p99)],
    ['longest ms', ({ probe }) => shown(probe.longest)],
    ['first byte ms', against(({ firstByteMs }) => firstByteMs)],
    ['upload ms', against(({ uploadMs }) => uploadMs)],
    ['cores', ({ cores }) => cores.toFixed(2)],
    ['theirs', ({ theirCores }) => theirCores.toFixed(2)],
    ['MiB', ({ peakMiB }) => shown(peakMiB)],
    ['refused', ({ refused }) => String([...refused.values()].reduce((sum, each) => sum + each, 0))],
  ])
  return `${small}\n\n${rest}`
}

export const resultMeaning = `Behind a figure stands how many times that of the first line it is; the last line shows how much of that is the machine's.
GET, PUT: 4 KiB by path, by four clients of one account, each as soon as it has its answer; a PUT is answered when it is durable.
probe: /health/live, again and again meanwhile, which waits for nothing but the event loop.
first byte: of a large download, which needs a slot; the longest of three.
upload: 1 MiB until it is stored, the longest of three; beside slow senders it waits until the slowest are cut off.
cores: processors in use, by the service and by its neighbours, who share them: with few of them figures grow for that alone.
MiB: the largest resident memory of the service.`
