import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import { Icon } from '../../look/icons.tsx'
import { Act } from '../../parts/act.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { Actor, Moment, Tag } from '../../parts/values.tsx'
import { t } from '../../words/words.ts'
import type { Of } from './of.ts'

/** The stages that a file has, and those that it may be given. */
export const Stages = ({ repository, id }: Of) => {
  const read = useAsk('listArtifactStages', { path: { repository, id } })
  const [adding, setAdding] = useState(false)
  const [stage, setStage] = useState('')
  const [comment, setComment] = useState('')
  const add = useChange('addStage', ['listArtifactStages', 'listStages', 'listArtifactPromotions'])
  const remove = useChange('removeStage', ['listArtifactStages', 'listStages', 'listArtifactPromotions'])
  const submit = async (): Promise<void> => {
    await add.mutateAsync({ path: { repository, id, stage }, body: { comment: comment === '' ? null : comment } })
    setAdding(false)
    setStage('')
    setComment('')
  }
  return (
    <Section
      title={t('list.stages')}
      actions={
        <Act by="addStage" on={repository} size="compact-sm" label={t('artifact.stage')} run={() => setAdding(true)} />
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
                  {entry.comment === null ? null : <p>{entry.comment}</p>}
                </div>
                <button
                  type="button"
                  className="plain"
                  aria-label={t('artifact.unstage', { stage: entry.stage })}
                  onClick={() =>
                    remove.mutate(
                      { path: { repository, id, stage: entry.stage } },
                      {
                        onError: tellProblem,
                        onSuccess: () =>
                          tell(t('artifact.wasUnstaged', { stage: entry.stage }), () =>
                            add.mutate({
                              path: { repository, id, stage: entry.stage },
                              body: { comment: entry.comment },
                            }),
                          ),
                      },
                    )
                  }
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
        busy={add.isPending}
        error={add.error}
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
