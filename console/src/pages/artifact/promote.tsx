import { SegmentedControl, Select, TagsInput, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import { Act } from '../../parts/act.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { tell } from '../../parts/toasts.tsx'
import { Actor, Moment } from '../../parts/values.tsx'
import { useHolders, useMay } from '../../session/holders.ts'
import { t } from '../../words/words.ts'
import type { Of } from './of.ts'

/** Copies or moves it into another repository, next to what the stage there holds now. */
export const Promote = ({ repository, id }: Of) => {
  const { session } = useHolders()
  const may = useMay()
  const navigate = useNavigate()
  const [open, setOpen] = useState(false)
  const [target, setTarget] = useState<string | null>(null)
  const [mode, setMode] = useState<'copy' | 'move'>('copy')
  const [stages, setStages] = useState<string[]>([])
  const [comment, setComment] = useState('')
  const promote = useChange('promoteArtifact', ['listArtifactPromotions', 'listPromotions', 'listStages'])
  const targets = (session?.permissions.repositories ?? [])
    .filter((each) => each.repository !== repository && each.actions.includes('artifact.promote'))
    .map((each) => each.repository)
  const stage = stages[0]
  const held = useAsk(
    'listStages',
    { path: { repository: target ?? '' }, query: { ...(stage === undefined ? {} : { stage }), limit: 5 } },
    { enabled: open && target !== null && stage !== undefined && may('listStages', target).may },
  )
  const submit = async (): Promise<void> => {
    if (target === null) return
    const done = await promote.mutateAsync({
      path: { repository, id },
      body: { target, mode, ...(stages.length === 0 ? {} : { stages }), comment: comment === '' ? null : comment },
    })
    setOpen(false)
    tell(t('promote.done', { target }))
    await navigate({ to: '/r/$repository/artifacts/$id', params: { repository: target, id: done.artifactId } })
  }
  return (
    <>
      <Act by="promoteArtifact" on={repository} icon="branch" label={t('promote.it')} run={() => setOpen(true)} />
      <FormDialog
        title={t('promote.it')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void submit().catch(() => {})}
        label={mode === 'copy' ? t('promote.copy') : t('promote.move')}
        busy={promote.isPending}
        error={promote.error}
        ready={target !== null}
      >
        {targets.length === 0 ? <p className="muted">{t('promote.nowhere')}</p> : null}
        <Select
          label={t('promote.target')}
          data={targets}
          value={target}
          onChange={setTarget}
          searchable
          comboboxProps={{ withinPortal: true }}
          data-autofocus
        />
        <SegmentedControl
          aria-label={t('promote.mode')}
          value={mode}
          onChange={(next) => setMode(next === 'move' ? 'move' : 'copy')}
          data={[
            { value: 'copy', label: t('promote.copy') },
            { value: 'move', label: t('promote.move') },
          ]}
        />
        <TagsInput
          label={t('promote.stages')}
          description={t('promote.stagesThere')}
          value={stages}
          onChange={setStages}
        />
        {held.data === undefined || stage === undefined ? null : held.data.items.length === 0 ? (
          <p className="muted">{t('promote.free', { stage })}</p>
        ) : (
          <div className="panel">
            <p className="strong">{t('promote.holds', { stage })}</p>
            {held.data.items.map((entry) => (
              <p key={entry.artifactId} className="line">
                <span className="mono">{entry.artifactName ?? `${entry.artifactId.slice(0, 13)}…`}</span>
                <Moment at={entry.promotedAt} />
                <Actor actor={entry.actor} name={entry.actorName} />
              </p>
            ))}
          </div>
        )}
        <TextInput
          label={t('artifact.comment')}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
        />
      </FormDialog>
    </>
  )
}
