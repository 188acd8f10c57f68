import { Select, TagsInput, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { OperationId } from '../contract/call.ts'
import { Act } from '../parts/act.tsx'
import { Bulk, type Item } from '../parts/bulk.tsx'
import { usePromotionTargets } from '../parts/promotion.tsx'
import { tell } from '../parts/toasts.tsx'
import { ask } from '../session/holders.ts'
import { said, t } from '../words/words.ts'

interface Of {
  readonly repository: string
  readonly items: readonly Item[]
  /** Nothing is chosen any more. */
  readonly clear: () => void
}

interface Doing extends Of {
  readonly close: () => void
  /** Lists are read anew. */
  readonly changed: () => void
}

const lists: readonly OperationId[] = [
  'searchArtifacts',
  'listArtifacts',
  'listDeletedArtifacts',
  'listStages',
  'listPromotions',
  'getAnnotations',
]

/** The same for many files: deleting, promoting, labels. Each is told by itself, and what one refuses stops no other. */
export const ChosenArtifacts = ({ repository, items, clear, deletes = true }: Of & { readonly deletes?: boolean }) => {
  const [open, setOpen] = useState<'delete' | 'promote' | 'label' | null>(null)
  const client = useQueryClient()
  const changed = (): void => {
    for (const id of lists) void client.invalidateQueries({ queryKey: [id] })
  }
  const doing = { repository, items, clear, changed, close: () => setOpen(null) }
  return (
    <>
      <Act
        by="putAnnotations"
        on={repository}
        icon="tag"
        size="compact-sm"
        label={t('choice.label')}
        run={() => setOpen('label')}
      />
      <Act
        by="promoteArtifact"
        on={repository}
        icon="branch"
        size="compact-sm"
        label={t('promote.it')}
        run={() => setOpen('promote')}
      />
      {deletes ? (
        <Act
          by="deleteArtifact"
          on={repository}
          icon="trash"
          size="compact-sm"
          label={t('artifact.delete')}
          run={() => setOpen('delete')}
        />
      ) : null}
      {open === 'delete' ? <DeleteAll {...doing} /> : null}
      {open === 'promote' ? <PromoteAll {...doing} /> : null}
      {open === 'label' ? <LabelAll {...doing} /> : null}
    </>
  )
}

const DeleteAll = ({ repository, items, clear, changed, close }: Doing) => {
  const work = async ({ id }: Item): Promise<string | null> => {
    const path = { repository, id }
    const { annotationRevision, blockers: before } = await ask('checkArtifactDeletion', { path })
    if (before.length > 0) return before.map((each) => said('blocker', each)).join(', ')
    const body = { expectedAnnotationRevision: annotationRevision }
    const { outcome, blockers } = await ask('deleteArtifact', { path, body })
    if (outcome === 'deleted' || outcome === 'already_deleted') return null
    return blockers.length === 0 ? said('outcome', outcome) : blockers.map((each) => said('blocker', each)).join(', ')
  }
  const restore = async (gone: readonly Item[]): Promise<void> => {
    for (const { id } of gone) await ask('restoreDeletedArtifact', { path: { repository, id } })
    changed()
  }
  return (
    <Bulk
      title={t('artifact.delete')}
      label={t('choice.delete', { count: items.length })}
      items={items}
      close={close}
      work={work}
      danger
      ended={(gone) => {
        changed()
        if (gone.length === 0) return
        if (gone.length === items.length) clear()
        tell(t('choice.deleted', { count: gone.length }), () => restore(gone))
      }}
    >
      <p>{t('choice.deleting')}</p>
    </Bulk>
  )
}

const PromoteAll = ({ repository, items, clear, changed, close }: Doing) => {
  const targets = usePromotionTargets(repository)
  const [target, setTarget] = useState<string | null>(null)
  const [stages, setStages] = useState<string[]>([])
  const [comment, setComment] = useState('')
  const work = async ({ id }: Item): Promise<string | null> => {
    const body = {
      target: target ?? '',
      ...(stages.length === 0 ? {} : { stages }),
      comment: comment === '' ? null : comment,
    }
    await ask('promoteArtifact', { path: { repository, id }, body })
    return null
  }
  return (
    <Bulk
      title={t('promote.it')}
      label={t('promote.copy')}
      items={items}
      close={close}
      work={work}
      ready={target !== null}
      ended={(went) => {
        changed()
        if (went.length === items.length) clear()
        if (went.length > 0) tell(t('choice.promoted', { count: went.length, target: target ?? '' }))
      }}
    >
      {targets.length === 0 ? <p className="muted">{t('promote.nowhere')}</p> : null}
      <Select
        label={t('promote.target')}
        data={targets}
        value={target}
        onChange={setTarget}
        searchable
        data-autofocus
      />
      <TagsInput
        label={t('promote.stages')}
        description={t('promote.stagesThere')}
        value={stages}
        onChange={setStages}
      />
      <TextInput
        label={t('artifact.comment')}
        value={comment}
        onChange={(event) => setComment(event.currentTarget.value)}
      />
    </Bulk>
  )
}

const LabelAll = ({ repository, items, clear, changed, close }: Doing) => {
  const [added, setAdded] = useState<readonly string[]>([])
  const [taken, setTaken] = useState<readonly string[]>([])
  const work = async ({ id }: Item): Promise<string | null> => {
    const path = { repository, id }
    const { revision, labels, ...rest } = await ask('getAnnotations', { path })
    const next = [...new Set([...labels, ...added])].filter((label) => !taken.includes(label))
    if (next.length === labels.length && next.every((label) => labels.includes(label))) return null
    const body = { expectedRevision: revision, value: { ...rest, labels: next } }
    await ask('putAnnotations', { path, body })
    return null
  }
  return (
    <Bulk
      title={t('choice.label')}
      label={t('dialog.save')}
      items={items}
      close={close}
      work={work}
      ready={added.length + taken.length > 0}
      ended={(went) => {
        changed()
        if (went.length === items.length) clear()
        if (went.length > 0) tell(t('choice.labelled', { count: went.length }))
      }}
    >
      <TagsInput label={t('choice.add')} value={[...added]} onChange={setAdded} data-autofocus />
      <TagsInput label={t('choice.take')} value={[...taken]} onChange={setTaken} />
    </Bulk>
  )
}
