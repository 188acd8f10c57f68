import { Counter, Gauge, type Registry } from 'prom-client'

/** A number that somebody else counts, read when somebody looks. */
export interface Measure {
  readonly name: string
  readonly help: string
  /** A counter only grows while the process lives. */
  readonly kind: 'counter' | 'gauge'
  readonly read: () => number | Promise<number>
  /** The same whichever process is asked: not to be added up. */
  readonly ofAll?: boolean
  /** It tells sizes or counts of all that is stored, whoever may see it: only for who may know that. */
  readonly ofCatalog?: boolean
}

export const showMeasure = (registry: Registry, { name, help, kind, read, ofAll }: Measure): void => {
  const aggregator = ofAll === true ? ('max' as const) : ('sum' as const)
  const common = { name, help, registers: [registry], aggregator }
  if (kind === 'gauge')
    new Gauge({
      ...common,
      async collect() {
        this.set(await read())
      },
    })
  else
    new Counter({
      ...common,
      async collect() {
        const value = await read()
        this.reset()
        this.inc(value)
      },
    })
}
