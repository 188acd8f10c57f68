import { SegmentedControl, Select, TagsInput, Textarea, TextInput } from '@mantine/core'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useAsk, useChange } from '../contract/asking.ts'
import type { Answer } from '../contract/call.ts'
import { isProblem } from '../contract/problem.ts'
import { Icon, type IconName } from '../look/icons.tsx'
import { Act } from '../parts/act.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Download } from '../parts/download.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Shown } from '../parts/states.tsx'
import { tell, tellProblem } from '../parts/toasts.tsx'
import { Actor, Digest, Moment, Size, Tag } from '../parts/values.tsx'
import { useHolders, useMay } from '../session/holders.ts'
import { said, t } from '../words/words.ts'
import { Preview } from './file.tsx'

interface Of {
  readonly repository: string
  readonly id: string
}

/** A published file: what it is, what is said of it, where it went, and why it is kept. */
export const Artifact = () => {
  const { repository, id } = useParams({ from: '/r/$repository/artifacts/$id' })
  const record = useAsk('getArtifact', { path: { repository, id } })
  const name = record.data?.descriptor.name ?? id.slice(0, 8)
  return (
    <Page
      title={name}
      mono
      actions={
        record.data === undefined ? undefined : (
          <>
            <Promote repository={repository} id={id} />
            <Delete repository={repository} id={id} name={name} />
            <Download repository={repository} id={id} size={Number(record.data.descriptor.size)} />
          </>
        )
      }
    >
      <Shown of={record}>
        {({ descriptor, createdAt }) => (
          <div className="aside">
            <div className="lines">
              <div className="panel">
                <Facts
                  facts={[
                    [t('list.size'), <Size key="s" bytes={descriptor.size} />],
                    [t('value.digest'), <Digest key="d" sha256={descriptor.sha256} />],
                    [t('list.published'), <Moment key="t" at={createdAt} />],
                    [t('value.id'), <code key="i">{id}</code>],
                  ]}
                />
              </div>
              <Lifeline repository={repository} id={id} publishedAt={createdAt} />
              <Paths repository={repository} id={id} />
              <Attached repository={repository} id={id} />
              <Preview repository={repository} id={id} name={descriptor.name} size={Number(descriptor.size)} />
            </div>
            <div className="lines">
              <Annotations repository={repository} id={id} />
              <Stages repository={repository} id={id} />
              <Why repository={repository} id={id} />
            </div>
          </div>
        )}
      </Shown>
    </Page>
  )
}

const icons: Readonly<Record<string, IconName>> = {
  'stage.added': 'tag',
  'stage.removed': 'cross',
  promoted: 'upload',
  received: 'download',
}

/** What became of it, from its publication on. */
const Lifeline = ({ repository, id, publishedAt }: Of & { readonly publishedAt: string }) => {
  const journal = useAsk('listArtifactPromotions', { path: { repository, id }, query: { order: 'asc', limit: 100 } })
  return (
    <Section title={t('artifact.lifeline')}>
      <Shown of={journal} rows={2}>
        {({ items }) => (
          <ol className="timeline panel">
            <Event icon="plus" at={publishedAt}>
              {t('artifact.published')}
            </Event>
            {items.map((line) => (
              <Event key={line.sequence} icon={icons[line.action] ?? 'history'} at={line.occurredAt}>
                {sentenceOf(line)} <Actor actor={line.actor} name={line.actorName} />
                {line.peerRepository === null || line.peerArtifactId === null ? null : (
                  <>
                    {' '}
                    <Link
                      to="/r/$repository/artifacts/$id"
                      params={{ repository: line.peerRepository, id: line.peerArtifactId }}
                    >
                      {line.peerRepository}
                    </Link>
                  </>
                )}
                {line.comment === null || line.comment === '' ? null : <p className="muted">{line.comment}</p>}
              </Event>
            ))}
          </ol>
        )}
      </Shown>
    </Section>
  )
}

const sentenceOf = ({ action, stage, mode }: Answer<'listPromotions'>['items'][number]): string => {
  if (action === 'stage.added') return t('artifact.staged', { stage: stage ?? '' })
  if (action === 'stage.removed') return t('artifact.unstaged', { stage: stage ?? '' })
  if (action === 'received') return mode === 'move' ? t('artifact.movedHere') : t('artifact.copiedHere')
  return mode === 'move' ? t('artifact.moved') : t('artifact.copied')
}

const Event = ({
  icon,
  at,
  children,
}: {
  readonly icon: IconName
  readonly at: string
  readonly children: ReactNode
}) => (
  <li>
    <Icon name={icon} />
    <div>
      <div>{children}</div>
      <span className="muted small">
        <Moment at={at} />
      </span>
    </div>
  </li>
)

const Paths = ({ repository, id }: Of) => {
  const paths = useAsk(
    'listArtifactPaths',
    { path: { repository, id }, query: { limit: 50 } },
    { enabled: useMay()('listArtifactPaths', repository).may },
  )
  if (paths.data === undefined || paths.data.items.length + paths.data.packages.length === 0) return null
  return (
    <Section title={t('artifact.paths')}>
      <ul className="panel">
        {paths.data.items.map(({ path, revision }) => (
          <li key={path} className="line">
            <Icon name="file" />
            <Link className="mono" to="/r/$repository/file/$" params={{ repository, _splat: path }}>
              {path}
            </Link>
            <span className="muted small">{t('file.revision', { revision })}</span>
          </li>
        ))}
        {paths.data.packages.map(({ group, name, version }) => (
          <li key={group + name + version} className="line">
            <Icon name="box" />
            <Link
              className="mono"
              to="/r/$repository/packages"
              params={{ repository }}
              search={{ group, name, version }}
            >
              {group === '' ? name : `${group}/${name}`} {version}
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  )
}

const Attached = ({ repository, id }: Of) => {
  const attached = useAsk('getAttachments', { path: { repository, id } })
  if (attached.data === undefined || attached.data.items.length === 0) return null
  return (
    <Section title={t('artifact.attached')}>
      <ul className="panel">
        {attached.data.items.map(({ name, kind, artifactId, description }) => (
          <li key={name} className="line">
            <Tag text={kind} />
            <Link to="/r/$repository/artifacts/$id" params={{ repository, id: artifactId }}>
              {name}
            </Link>
            <span className="muted">{description}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

type Said = Pick<Answer<'getAnnotations'>, 'labels' | 'metadata' | 'collections'>

/** What both sides of a conflict changed by themselves is kept: labels and collections as sets, metadata by key. */
const merged = (
  base: Said,
  mine: Said,
  theirs: Said,
): { readonly value: Said; readonly clashes: readonly string[] } => {
  const sets = (one: readonly string[], ours: readonly string[], others: readonly string[]): string[] => [
    ...new Set([
      ...others.filter((each) => ours.includes(each) || !one.includes(each)),
      ...ours.filter((each) => !one.includes(each)),
    ]),
  ]
  const keys = new Set([...Object.keys(mine.metadata), ...Object.keys(theirs.metadata)])
  const metadata: Record<string, string> = {}
  const clashes: string[] = []
  for (const key of keys) {
    const [was, ours, other] = [base.metadata[key], mine.metadata[key], theirs.metadata[key]]
    if (ours !== was && other !== was && ours !== other) clashes.push(key)
    const kept = ours === was ? other : ours
    if (kept !== undefined) metadata[key] = kept
  }
  return {
    value: {
      labels: sets(base.labels, mine.labels, theirs.labels),
      collections: sets(base.collections, mine.collections, theirs.collections),
      metadata,
    },
    clashes,
  }
}

const pairsOf = (metadata: Readonly<Record<string, string>>): string =>
  Object.entries(metadata)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n')

const metadataOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map((line) => {
        const at = line.indexOf('=')
        return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
      }),
  )

const Annotations = ({ repository, id }: Of) => {
  const read = useAsk('getAnnotations', { path: { repository, id } })
  const [editing, setEditing] = useState(false)
  return (
    <Section
      title={t('artifact.said')}
      actions={
        <Act
          by="putAnnotations"
          on={repository}
          size="compact-sm"
          label={t('artifact.edit')}
          off={read.data === undefined}
          run={() => setEditing(true)}
        />
      }
    >
      <Shown of={read} rows={2}>
        {(now) => (
          <div className="panel">
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
            {now.collections.length === 0 ? null : <p className="muted small">{now.collections.join(', ')}</p>}
            {editing ? (
              <EditAnnotations repository={repository} id={id} base={now} close={() => setEditing(false)} />
            ) : null}
          </div>
        )}
      </Shown>
    </Section>
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
  const put = useChange('putAnnotations', ['getAnnotations', 'searchArtifacts', 'explainArtifact'])
  const now = useAsk('getAnnotations', { path: { repository, id } })
  const mine = (): Said => ({ labels: [...labels], collections: [...collections], metadata: metadataOf(pairs) })
  const save = async (): Promise<void> => {
    try {
      await put.mutateAsync({ path: { repository, id }, body: { expectedRevision: base.revision, value: mine() } })
      tell(t('artifact.saved'))
      close()
    } catch (error) {
      if (!isProblem(error) || error.code !== 'revision_mismatch') return
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
      error={theirs === null ? put.error : null}
    >
      {theirs === null ? null : (
        <div className="band warn" role="alert">
          <Icon name="compare" />
          <div>
            <p className="strong">{t('conflict.title')}</p>
            <p>{clashes.length === 0 ? t('conflict.merged') : t('conflict.both', { keys: clashes.join(', ') })}</p>
            {clashes.map((key) => (
              <p key={key} className="mono small">
                − {key}={theirs.metadata[key] ?? ''} · + {key}={metadataOf(pairs)[key] ?? ''}
              </p>
            ))}
          </div>
        </div>
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

const Stages = ({ repository, id }: Of) => {
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

/** Why it is kept, or when it goes; known to who may look at storage. */
const Why = ({ repository, id }: Of) => {
  const allowed = useMay()('explainArtifact', repository)
  const why = useAsk('explainArtifact', { path: { repository, id } }, { enabled: allowed.may })
  if (!allowed.may) return null
  return (
    <Section title={t('artifact.why')}>
      <Shown of={why} rows={2}>
        {({ decision, reasons, deletableAt, blockers }) => (
          <div className="panel">
            <Tag tone={decision === 'deletable' ? 'warn' : 'ok'} text={said('decision', decision)} />
            {reasons.map(({ code, text }) => (
              <p key={code + text}>{text}</p>
            ))}
            {blockers.map((each) => (
              <p key={each} className="line">
                <Icon name="lock" />
                {said('blocker', each)}
              </p>
            ))}
            {deletableAt === null ? null : (
              <p className="muted">
                {t('artifact.goes')} <Moment at={deletableAt} />
              </p>
            )}
          </div>
        )}
      </Shown>
    </Section>
  )
}

/** Copies or moves it into another repository, next to what the stage there holds now. */
const Promote = ({ repository, id }: Of) => {
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
                <code>{entry.artifactId.slice(0, 13)}…</code>
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

const Delete = ({ repository, id, name }: Of & { readonly name: string }) => {
  const [open, setOpen] = useState(false)
  const navigate = useNavigate()
  const allowed = useMay()('checkArtifactDeletion', repository)
  const check = useAsk('checkArtifactDeletion', { path: { repository, id } }, { enabled: open && allowed.may })
  const remove = useChange('deleteArtifact', ['searchArtifacts', 'listArtifacts', 'listDeletedArtifacts'])
  const restore = useChange('restoreDeletedArtifact', ['searchArtifacts', 'listDeletedArtifacts', 'getArtifact'])
  const submit = async (): Promise<void> => {
    if (check.data === undefined) return
    const { outcome } = await remove.mutateAsync({
      path: { repository, id },
      body: { expectedAnnotationRevision: check.data.annotationRevision },
    })
    if (outcome !== 'deleted') {
      await check.refetch()
      return
    }
    setOpen(false)
    await navigate({ to: '/r/$repository/artifacts', params: { repository }, search: { view: 'deleted' } })
    tell(t('artifact.wasDeleted', { name }), () =>
      restore.mutate(
        { path: { repository, id } },
        {
          onError: tellProblem,
          onSuccess: () => {
            tell(t('artifacts.restored', { name }))
            void navigate({ to: '/r/$repository/artifacts/$id', params: { repository, id } })
          },
        },
      ),
    )
  }
  const blockers = check.data?.blockers ?? []
  return (
    <>
      <Act by="deleteArtifact" on={repository} icon="trash" label={t('artifact.delete')} run={() => setOpen(true)} />
      <FormDialog
        title={t('artifact.delete')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void submit().catch(() => {})}
        label={t('artifact.delete')}
        busy={remove.isPending}
        error={remove.error ?? check.error}
        ready={check.data !== undefined && blockers.length === 0}
        danger
      >
        <p>{t('artifact.deleting', { name })}</p>
        {blockers.length === 0 ? null : (
          <div className="band warn">
            <Icon name="lock" />
            <div>
              <p className="strong">{t('artifact.blocked')}</p>
              {blockers.map((each) => (
                <p key={each}>{said('blocker', each)}</p>
              ))}
            </div>
          </div>
        )}
      </FormDialog>
    </>
  )
}
