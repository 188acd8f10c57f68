import { TagsInput, Textarea } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange, usePages } from '../../contract/asking.ts'
import type { Answer } from '../../contract/call.ts'
import { isConflict } from '../../contract/problem.ts'
import { Changed } from '../../parts/changed.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Editable } from '../../parts/editable.tsx'
import { Earlier } from '../../parts/history.tsx'
import { Facts } from '../../parts/page.tsx'
import { tell } from '../../parts/toasts.tsx'
import { shownAs, Tag, Written } from '../../parts/values.tsx'
import { t } from '../../words/words.ts'
import { merged, metadataOf, pairsOf, type Said } from './annotation-text.ts'
import type { Of } from './of.ts'

/** Labels, metadata and collections of a file, and how they are changed. */
export const Annotations = ({ repository, id }: Of) => {
  const read = useAsk('getAnnotations', { path: { repository, id } })
  return (
    <Editable
      title={t('artifact.said')}
      by="putAnnotations"
      repository={repository}
      read={read}
      edit={(now, close) => <EditAnnotations repository={repository} id={id} base={now} close={close} />}
    >
      {(now) => (
        <>
          {now.labels.length + now.collections.length + Object.keys(now.metadata).length === 0 ? (
            <p className="muted">{t('artifact.unsaid')}</p>
          ) : null}
          {now.labels.length === 0 ? null : (
            <div className="line">
              {now.labels.map((label) => (
                <Link key={label} to="/search" search={{ q: `label:${label}` }}>
                  <Tag text={label} />
                </Link>
              ))}
            </div>
          )}
          {Object.keys(now.metadata).length === 0 ? null : <Facts facts={Object.entries(now.metadata)} />}
          {now.collections.length === 0 ? null : <p className="muted small">{shownAs(now.collections.join(', '))}</p>}
          {now.revision === 0 ? null : <Before repository={repository} id={id} />}
        </>
      )}
    </Editable>
  )
}

const Before = ({ repository, id }: Of) => {
  const [open, setOpen] = useState(false)
  const list = usePages(
    'listAnnotationHistory',
    (before) => ({ path: { repository, id }, ...(before === undefined ? {} : { query: { before: Number(before) } }) }),
    { enabled: open },
  )
  return (
    <Earlier
      list={list}
      open={open}
      toggle={setOpen}
      none={t('artifact.unknownBefore')}
      show={({ labels, collections, metadata }) => (
        <p className="line">
          {labels.map((label) => (
            <Tag key={label} text={label} />
          ))}
          <span className="mono small">{shownAs([...collections, ...pairsOf(metadata).split('\n')].join(' '))}</span>
        </p>
      )}
    />
  )
}

const EditAnnotations = ({
  repository,
  id,
  base: first,
  close,
}: Of & { readonly base: Answer<'getAnnotations'>; readonly close: () => void }) => {
  const [base, setBase] = useState(first)
  const [labels, setLabels] = useState<readonly string[]>(first.labels)
  const [collections, setCollections] = useState<readonly string[]>(first.collections)
  const [pairs, setPairs] = useState(pairsOf(first.metadata))
  const [clashes, setClashes] = useState<readonly string[]>([])
  const [theirs, setTheirs] = useState<Answer<'getAnnotations'> | null>(null)
  const put = useChange('putAnnotations', [
    'getAnnotations',
    'listAnnotationHistory',
    'searchArtifacts',
    'explainArtifact',
  ])
  const now = useAsk('getAnnotations', { path: { repository, id } })
  const mine = (): Said => ({ labels: [...labels], collections: [...collections], metadata: metadataOf(pairs) })
  const save = async (): Promise<void> => {
    try {
      await put.mutateAsync({ path: { repository, id }, body: { expectedRevision: base.revision, value: mine() } })
      tell(t('artifact.saved'))
      close()
    } catch (error) {
      if (!isConflict(error)) return
      const { data } = await now.refetch()
      if (data === undefined) return
      const { value, clashes: both } = merged(base, mine(), data)
      setBase(data)
      setTheirs(data)
      setLabels(value.labels)
      setCollections(value.collections)
      setPairs(pairsOf(value.metadata))
      setClashes(both)
    }
  }
  return (
    <FormDialog
      title={t('artifact.edit')}
      open
      close={close}
      submit={() => void save()}
      label={t('dialog.save')}
      busy={put.isPending}
      error={isConflict(put.error) ? null : put.error}
    >
      {theirs === null ? null : (
        <Changed>
          <p>{clashes.length === 0 ? t('conflict.merged') : t('conflict.both', { keys: clashes.join(', ') })}</p>
          {clashes.map((key) => (
            <p key={key} className="mono small">
              <Written text={`− ${key}=${theirs.metadata[key] ?? ''} · + ${key}=${metadataOf(pairs)[key] ?? ''}`} />
            </p>
          ))}
        </Changed>
      )}
      <TagsInput label={t('artifact.labels')} value={[...labels]} onChange={setLabels} data-autofocus />
      <TagsInput label={t('artifact.collections')} value={[...collections]} onChange={setCollections} />
      <Textarea
        label={t('artifact.metadata')}
        description={t('artifact.pairs')}
        value={pairs}
        onChange={(event) => setPairs(event.currentTarget.value)}
        rows={5}
        className="mono"
      />
    </FormDialog>
  )
}
