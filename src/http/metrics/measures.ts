import { Counter, Gauge, type Registry } from 'prom-client'

/** One number, or one for each of several things by the values of their labels. */
type Shown = number | readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[]

/** A number that somebody else counts, read when somebody looks. */
export interface Measure {
  readonly name: string
  readonly help: string
  /** A counter only grows while the process lives. */
  readonly kind: 'counter' | 'gauge'
  readonly read: () => Shown | Promise<Shown>
  /** Names of labels, where there is a number for each of several things. */
  readonly labels?: readonly string[]
  /** The same whichever process is asked: not to be added up. */
  readonly ofAll?: boolean
  /** It tells sizes or counts of all that is stored, whoever may see it: only for who may know that. */
  readonly ofCatalog?: boolean
}

export const showMeasure = (registry: Registry, { name, help, kind, read, ofAll, labels = [] }: Measure): void => {
  const aggregator = ofAll === true ? ('max' as const) : ('sum' as const)
  const common = { name, help, registers: [registry], aggregator, labelNames: [...labels] }
  if (kind === 'gauge')
    new Gauge({
      ...common,
      async collect() {
        const shown = await read()
        if (typeof shown === 'number') return this.set(shown)
        this.reset()
        for (const each of shown) this.set({ ...each.labels }, each.value)
      },
    })
  else
    new Counter({
      ...common,
      async collect() {
        const shown = await read()
        this.reset()
        if (typeof shown === 'number') return this.inc(shown)
        for (const each of shown) this.inc({ ...each.labels }, each.value)
      },
    })
}
