import { type ReactNode, useState } from 'react'
import { isProblem } from '../contract/problem.ts'
import { Icon } from '../look/icons.tsx'
import { said, t } from '../words/words.ts'
import { FormDialog } from './dialog.tsx'
import { shownAs, Written } from './values.tsx'

export interface Item {
  readonly id: string
  readonly name: string
}

/** Done, or why not. */
type Outcome = { readonly done: true } | { readonly done: false; readonly why: string }

const atOnce = 3
/** More than so many are not taken away without their number being typed. */
const manyItems = 20

const whyOf = (error: unknown): string => {
  if (!isProblem(error)) return t('problem.internal')
  const sentence = said('problem', error.code)
  return error.message === '' ? sentence : `${sentence}: ${error.message}`
}

/** Does the same with each, three at a time; what is refused stops nothing. */
const eachOf = async (
  items: readonly Item[],
  work: (item: Item) => Promise<string | null>,
  told: (id: string, outcome: Outcome) => void,
): Promise<void> => {
  const waiting = [...items]
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      const why = await work(item).catch(whyOf)
      told(item.id, why === null ? { done: true } : { done: false, why })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** One change of many rows: what it will be, and then, row by row, what became of it. */
export const Bulk = ({
  title,
  label,
  items: chosen,
  close,
  work,
  ended,
  ready = true,
  danger = false,
  children,
}: {
  readonly title: string
  readonly label: string
  readonly items: readonly Item[]
  readonly close: () => void
  /** Does it with one; the sentence why not, or null. */
  readonly work: (item: Item) => Promise<string | null>
  /** Is told, when all were tried, which went. */
  readonly ended: (done: readonly Item[]) => void
  readonly ready?: boolean
  readonly danger?: boolean
  readonly children?: ReactNode
}) => {
  // Those that were chosen when it began: what goes meanwhile leaves the list, and is told of here all the same.
  const [items] = useState(chosen)
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map())
  const [state, setState] = useState<'asked' | 'running' | 'over'>('asked')
  const refused = items.filter(({ id }) => outcomes.get(id)?.done === false)
  const run = async (): Promise<void> => {
    const now = new Map(outcomes)
    setState('running')
    await eachOf(state === 'over' ? refused : items, work, (id, outcome) => {
      now.set(id, outcome)
      setOutcomes(new Map(now))
    })
    setState('over')
    const done = items.filter(({ id }) => now.get(id)?.done === true)
    ended(done)
    if (done.length === items.length) close()
  }
  const asks = danger && items.length > manyItems && state === 'asked'
  return (
    <FormDialog
      title={title}
      open
      close={close}
      submit={() => void run()}
      label={state === 'over' ? t('bulk.again', { count: refused.length }) : label}
      busy={state === 'running'}
      error={null}
      ready={ready}
      named={asks ? String(items.length) : null}
      danger={danger}
      size="lg"
    >
      {state === 'asked' ? children : null}
      {state === 'asked' ? null : (
        <p role="status" className="strong">
          {t('bulk.sofar', { done: outcomes.size - refused.length, refused: refused.length, count: items.length })}
        </p>
      )}
      <ul className="bulk">
        {items.map((item) => (
          <Line key={item.id} item={item} outcome={outcomes.get(item.id)} />
        ))}
      </ul>
    </FormDialog>
  )
}

const Line = ({ item, outcome }: { readonly item: Item; readonly outcome: Outcome | undefined }) => (
  <li>
    <span className="line">
      {outcome === undefined ? null : <Icon name={outcome.done ? 'check' : 'alert'} />}
      <Written mono text={item.name} />
      {outcome?.done === true ? <span className="off-screen">{t('bulk.done')}</span> : null}
    </span>
    {outcome?.done === false ? <p className="why">{shownAs(outcome.why)}</p> : null}
  </li>
)
