import { TextInput } from '@mantine/core'
import { useState } from 'react'
import type { OperationId } from '../contract/call.ts'
import { Icon } from '../look/icons.tsx'
import { t } from '../words/words.ts'
import { Act } from './act.tsx'
import { FormDialog } from './dialog.tsx'
import { Section } from './page.tsx'
import { Shown } from './states.tsx'
import { tell, tellProblem } from './toasts.tsx'
import { Actor, Moment, shownAs, Tag } from './values.tsx'

interface Given {
  readonly stage: string
  readonly promotedAt: string
  readonly actor: string
  readonly actorName?: string | null
  readonly comment: string | null
}

interface Read {
  readonly data: { readonly items: readonly Given[] } | undefined
  readonly error: unknown
  readonly dataUpdatedAt: number
  readonly refetch: () => unknown
}

/** The stages that something has, and those that it may be given. */
export const GivenStages = ({
  by,
  repository,
  read,
  busy,
  error,
  give,
  take,
}: {
  readonly by: OperationId
  readonly repository: string
  readonly read: Read
  readonly busy: boolean
  readonly error: unknown
  readonly give: (stage: string, comment: string | null) => Promise<unknown>
  readonly take: (stage: string) => Promise<unknown>
}) => {
  const [adding, setAdding] = useState(false)
  const [stage, setStage] = useState('')
  const [comment, setComment] = useState('')
  const submit = async (): Promise<void> => {
    await give(stage, comment === '' ? null : comment)
    setAdding(false)
    setStage('')
    setComment('')
  }
  const remove = async (entry: Given): Promise<void> => {
    await take(entry.stage)
    tell(t('artifact.wasUnstaged', { stage: entry.stage }), () => give(entry.stage, entry.comment))
  }
  return (
    <Section
      title={t('list.stages')}
      actions={
        <Act by={by} on={repository} size="compact-sm" label={t('artifact.stage')} run={() => setAdding(true)} />
      }
    >
      <Shown of={read} rows={1}>
        {({ items }) => (
          <div className="panel">
            {items.length === 0 ? <p className="muted">{t('artifact.noStage')}</p> : null}
            {items.map((entry) => (
              <div key={entry.stage} className="spread">
                <div>
                  <Tag tone="accent" text={entry.stage} />{' '}
                  <span className="muted small">
                    <Actor actor={entry.actor} name={entry.actorName} /> · <Moment at={entry.promotedAt} />
                  </span>
                  {entry.comment === null ? null : <p>{shownAs(entry.comment)}</p>}
                </div>
                <button
                  type="button"
                  className="plain"
                  aria-label={t('artifact.unstage', { stage: entry.stage })}
                  onClick={() => void remove(entry).catch(tellProblem)}
                >
                  <Icon name="cross" />
                </button>
              </div>
            ))}
          </div>
        )}
      </Shown>
      <FormDialog
        title={t('artifact.stage')}
        open={adding}
        close={() => setAdding(false)}
        submit={() => void submit().catch(() => {})}
        label={t('artifact.stage')}
        busy={busy}
        error={error}
        ready={stage !== ''}
      >
        <TextInput
          label={t('artifact.stageName')}
          value={stage}
          onChange={(event) => setStage(event.currentTarget.value)}
          data-autofocus
        />
        <TextInput
          label={t('artifact.comment')}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
        />
      </FormDialog>
    </Section>
  )
}
