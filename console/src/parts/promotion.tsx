import { SegmentedControl, Select, TagsInput, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { OperationId } from '../contract/call.ts'
import { useHolders } from '../session/holders.ts'
import { t } from '../words/words.ts'
import { Act } from './act.tsx'
import { FormDialog } from './dialog.tsx'
import { Actor, Moment, Written } from './values.tsx'

/** Where something is to go, and how. */
export interface Wanted {
  readonly target: string
  readonly mode: 'copy' | 'move'
  readonly stages: string[]
  readonly comment: string | null
}

/** What is in a stage there now. */
interface Holder {
  readonly name: string
  readonly promotedAt: string
  readonly actor: string
  readonly actorName: string | null
}

/** Where one may promote to from a repository. */
export const usePromotionTargets = (repository: string): string[] =>
  (useHolders().session?.permissions.repositories ?? [])
    .filter((each) => each.repository !== repository && each.actions.includes('artifact.promote'))
    .map((each) => each.repository)

/** Copies or moves something into another repository, next to what the stage there holds now. */
export const PromoteTo = ({
  by,
  repository,
  busy,
  error,
  held,
  submit,
  children,
}: {
  readonly by: OperationId
  readonly repository: string
  readonly busy: boolean
  readonly error: unknown
  /** Shows what has that stage there, once both are known. */
  readonly held: (target: string, stage: string) => ReactNode
  /** Resolves once it is done; what refuses it stays in `error`. */
  readonly submit: (wanted: Wanted) => Promise<unknown>
  /** What else may be said of it there. */
  readonly children?: ReactNode
}) => {
  const targets = usePromotionTargets(repository)
  const [open, setOpen] = useState(false)
  const [target, setTarget] = useState<string | null>(null)
  const [mode, setMode] = useState<'copy' | 'move'>('copy')
  const [stages, setStages] = useState<string[]>([])
  const [comment, setComment] = useState('')
  const go = async (): Promise<void> => {
    if (target === null) return
    await submit({ target, mode, stages, comment: comment === '' ? null : comment })
    setOpen(false)
  }
  const stage = stages[0]
  return (
    <>
      <Act by={by} on={repository} icon="branch" label={t('promote.it')} run={() => setOpen(true)} />
      <FormDialog
        title={t('promote.it')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void go().catch(() => {})}
        label={mode === 'copy' ? t('promote.copy') : t('promote.move')}
        busy={busy}
        error={error}
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
        {children}
        <TagsInput
          label={t('promote.stages')}
          description={t('promote.stagesThere')}
          value={stages}
          onChange={setStages}
        />
        {target === null || stage === undefined ? null : held(target, stage)}
        <TextInput
          label={t('artifact.comment')}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
        />
      </FormDialog>
    </>
  )
}

/** What a stage holds now, which is to be compared with what comes. */
export const Held = ({
  stage,
  holders,
}: {
  readonly stage: string
  readonly holders: readonly Holder[] | undefined
}) =>
  holders === undefined ? null : holders.length === 0 ? (
    <p className="muted">{t('promote.free', { stage })}</p>
  ) : (
    <div className="panel">
      <p className="strong">{t('promote.holds', { stage })}</p>
      {holders.map((entry) => (
        <p key={entry.name} className="line">
          <Written mono text={entry.name} />
          <Moment at={entry.promotedAt} />
          <Actor actor={entry.actor} name={entry.actorName} />
        </p>
      ))}
    </div>
  )
