import type { RepositoryAction } from '../kernel/actions.ts'
import type { Finding } from '../kernel/finding.ts'
import type { BoundOperation } from './handler.ts'
import type { Operation } from './operation.ts'
import type { Wire } from './wire.ts'

/** Looks at one thing that has to be so. Whoever takes no more findings than it can use stops it. */
export interface Check<Needs> {
  readonly of: string
  readonly look: (needs: Needs) => AsyncIterable<Finding>
  /** It opens stored bytes, and does not look at rows alone. */
  readonly opensBytes?: true
}

/** A form of things that repositories hold, such as packages. */
export interface Format<Needs> {
  readonly name: string
  /** Whoever holds this may list them, and is told that there are some. */
  readonly listedBy: RepositoryAction
  /** How many repositories have, up to so many each: a look into an index. Those that have none are left out. */
  readonly countIn: (
    needs: Needs,
    repositories: readonly string[],
    most: number,
  ) => Promise<ReadonlyMap<string, number>>
}

/**
 * What has to happen although nobody asks for it. `run` throws when something could not be done, after it has done the
 * rest.
 */
export interface Upkeep<Needs> {
  /** Names it in metrics, and in the row that says when it last went well. */
  readonly name: string
  /** In words. */
  readonly what: string
  readonly everyMs: number
  readonly run: (needs: Needs, stopping: () => boolean) => Promise<unknown>
  /** Who has work by what this one leaves, and is woken. */
  readonly wakes?: string
}

/**
 * A slice of the product as one value: what it offers, proves and keeps up, each as a function of what it needs.
 * Routes, catalogue, doctor, worker and reference are functions of the list of slices (`main/slices.ts`).
 */
export interface Slice<Api, Doctor, Worker, Job, Kept> {
  readonly operations: readonly Operation[]
  readonly handlers: (needs: Api) => readonly BoundOperation[]
  readonly checks: readonly Check<Doctor>[]
  readonly formats: readonly Format<Doctor>[]
  readonly upkeep: readonly Upkeep<Worker>[]
  /** Kinds of jobs that it does. */
  readonly jobs: readonly Job[]
  /** Kinds of things of its own that storage policies keep and delete. */
  readonly kept: readonly Kept[]
  /** Where its operations speak otherwise than the interface of the service. */
  readonly wire: Wire | null
}

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'id' in value && 'method' in value && 'access' in value

/** `operations` is the module of the declarations; what else it exports is passed over. */
export const slice = <Api, Doctor = unknown, Worker = unknown, Job = never, Kept = never>({
  operations,
  handlers,
  checks = [],
  formats = [],
  upkeep = [],
  jobs = [],
  kept = [],
  wire = null,
}: Omit<Partial<Slice<Api, Doctor, Worker, Job, Kept>>, 'operations' | 'handlers'> & {
  readonly operations: Readonly<Record<string, unknown>>
  readonly handlers: (needs: Api) => readonly BoundOperation[]
}): Slice<Api, Doctor, Worker, Job, Kept> => ({
  operations: Object.values(operations).filter(isOperation),
  handlers,
  checks,
  formats,
  upkeep,
  jobs,
  kept,
  wire,
})

/**
 * The operations with their handlers. Throws unless each is declared and served once: nothing is one without the other.
 */
export const bound = <Api>(
  { operations, handlers }: Pick<Slice<Api, never, never, unknown, unknown>, 'operations' | 'handlers'>,
  needs: Api,
): readonly BoundOperation[] => {
  const served = handlers(needs)
  const [declared, handled] = [operations.map(({ id }) => id), served.map(({ operation }) => operation.id)]
  if (declared.sort().join() !== handled.sort().join())
    throw new Error(`a slice declares ${declared.join(', ')} but its handlers serve ${handled.join(', ')}`)
  return served
}
