import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange, usePages } from '../contract/asking.ts'
import { addressOf } from '../contract/call.ts'
import { problemOf } from '../contract/problem.ts'
import { Icon } from '../look/icons.tsx'
import { Act } from '../parts/act.tsx'
import { Crumbs } from '../parts/crumbs.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Download } from '../parts/download.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Shown } from '../parts/states.tsx'
import { tell, tellProblem } from '../parts/toasts.tsx'
import { Actor, Digest, Moment, Size, Tag } from '../parts/values.tsx'
import { asHolder } from '../session/holders.ts'
import { exactBytes } from '../values/format.ts'
import { lineDifferences } from '../values/line-differences.ts'
import { t } from '../words/words.ts'

/** What a path shows: the file, every revision of it, and what was here before. */
export const File = () => {
  const { repository, _splat: path = '' } = useParams({ from: '/r/$repository/file/$' })
  const { rev, with: other } = useSearch({ from: '/r/$repository/file/$' })
  const history = usePages('listAssetHistory', (before) => ({
    path: { repository },
    query: { path, ...(before === undefined ? {} : { before: Number(before) }) },
  }))
  const rows = history.data?.pages.flatMap(({ items }) => items) ?? []
  const newest = rows[0]
  const shown = rev === undefined ? newest : rows.find(({ revision }) => String(revision) === rev)
  const compared = rows.find(({ revision }) => String(revision) === other)
  return (
    <Page title={path.split('/').at(-1) ?? path} mono lead={<Crumbs repository={repository} path={path} isFile />}>
      <Shown of={history}>
        {() =>
          shown === undefined || newest === undefined ? (
            <p className="muted">{t('file.gone')}</p>
          ) : (
            <div className="aside">
              <div className="lines">
                {shown.removed === true ? (
                  <p className="band warn">{t('file.removed')}</p>
                ) : (
                  <Content repository={repository} id={shown.artifactId} />
                )}
                {compared === undefined ? null : <Compare repository={repository} {...inOrder(compared, shown)} />}
              </div>
              <Section title={t('file.history')}>
                <History repository={repository} path={path} rows={rows} shown={shown.revision} />
                {history.hasNextPage ? (
                  <button type="button" className="link" onClick={() => void history.fetchNextPage()}>
                    {t('list.more')}
                  </button>
                ) : null}
                <Ending
                  repository={repository}
                  path={path}
                  revision={newest.revision}
                  removed={newest.removed === true}
                />
              </Section>
            </div>
          )
        }
      </Shown>
    </Page>
  )
}

/** The older one first, whichever was chosen first. */
const inOrder = (one: Revision, other: Revision) =>
  one.revision < other.revision ? { one, other } : { one: other, other: one }

interface Revision {
  readonly revision: number
  readonly artifactId: string
  readonly actor: string | null
  readonly actorName: string | null
  readonly createdAt: string | null
  readonly sourceRevision: number | null
  readonly removed?: true
}

const Content = ({ repository, id }: { readonly repository: string; readonly id: string }) => {
  const record = useAsk('getArtifact', { path: { repository, id } })
  return (
    <Shown of={record}>
      {({ descriptor, createdAt }) => (
        <>
          <div className="panel">
            <Facts
              facts={[
                [t('list.size'), <Size key="size" bytes={descriptor.size} />],
                [t('value.digest'), <Digest key="digest" sha256={descriptor.sha256} />],
                [t('list.published'), <Moment key="time" at={createdAt} />],
                [
                  t('file.artifact'),
                  <Link key="artifact" to="/r/$repository/artifacts/$id" params={{ repository, id }}>
                    {descriptor.name}
                  </Link>,
                ],
              ]}
            />
            <div className="actions">
              <Download repository={repository} id={id} size={Number(descriptor.size)} />
            </div>
          </div>
          <Preview repository={repository} id={id} name={descriptor.name} size={Number(descriptor.size)} />
        </>
      )}
    </Shown>
  )
}

const textBytesMax = 256 * 1024
const imageBytesMax = 4 * 1024 * 1024
const imageName = /\.(?:png|jpe?g|gif|webp|avif)$/i

/** Bytes of a file, for a look: text as text, pictures by a blob, nothing else. */
const bytesOf = (repository: string, id: string, most: number, signal: AbortSignal): Promise<Blob> =>
  asHolder('getArtifactContent', repository, async (secret) => {
    const answered = await fetch(addressOf('getArtifactContent', { path: { repository, id } }), {
      headers: { authorization: `Bearer ${secret ?? ''}`, range: `bytes=0-${most - 1}`, 'svc-redirect': 'never' },
      credentials: 'omit',
      signal,
    })
    if (!answered.ok) throw problemOf(answered.status, await answered.text())
    return answered.blob()
  })

const isText = (text: string): boolean => !/[\0\uFFFD]/.test(text.slice(0, 4096))

export const Preview = ({
  repository,
  id,
  name,
  size,
}: {
  readonly repository: string
  readonly id: string
  readonly name: string
  readonly size: number
}) => {
  const isImage = imageName.test(name) && size <= imageBytesMax
  const seen = useQuery({
    queryKey: ['preview', repository, id],
    enabled: size > 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const blob = await bytesOf(repository, id, isImage ? imageBytesMax : textBytesMax, signal)
      if (isImage) return { kind: 'image' as const, url: URL.createObjectURL(new Blob([blob])) }
      const text = await blob.text()
      return isText(text) ? { kind: 'text' as const, text } : { kind: 'none' as const }
    },
  })
  return (
    <Section title={t('file.preview')}>
      {size === 0 ? (
        <p className="muted">{t('file.empty')}</p>
      ) : (
        <Shown of={seen} rows={4}>
          {(preview) =>
            preview.kind === 'image' ? (
              <img className="preview-image" src={preview.url} alt={name} />
            ) : preview.kind === 'text' ? (
              <>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
                <pre className="preview-text" tabIndex={0}>
                  {preview.text}
                </pre>
                {size > textBytesMax ? (
                  <p className="muted small">{t('file.cut', { size: exactBytes(size) })}</p>
                ) : null}
              </>
            ) : (
              <p className="muted">{t('file.binary')}</p>
            )
          }
        </Shown>
      )}
    </Section>
  )
}

const History = ({
  repository,
  path,
  rows,
  shown,
}: {
  readonly repository: string
  readonly path: string
  readonly rows: readonly Revision[]
  readonly shown: number
}) => {
  const newest = rows[0]?.revision ?? 0
  const restore = useChange('restoreAsset', ['listAssetHistory', 'listAssetPage'])
  const run = async (sourceRevision: number): Promise<void> => {
    try {
      const { revision } = await restore.mutateAsync({
        path: { repository },
        body: { path, sourceRevision, expectedRevision: newest },
      })
      tell(t('file.restored', { revision }))
    } catch (error) {
      tellProblem(error)
    }
  }
  return (
    <ol className="lines">
      {rows.map((row) => (
        <li key={row.revision} className="panel">
          <div className="spread">
            <Link
              to="."
              search={(before) => ({ ...before, rev: String(row.revision) })}
              aria-current={row.revision === shown}
            >
              <strong>{t('file.revision', { revision: row.revision })}</strong>
            </Link>
            {row.revision === newest ? <Tag tone="accent" text={t('file.now')} /> : null}
            {row.removed === true ? <Tag tone="warn" text={t('file.ended')} /> : null}
          </div>
          <span className="muted small">
            {row.actor === null ? null : <Actor actor={row.actor} name={row.actorName} />}
            {row.createdAt === null ? null : (
              <>
                {' · '}
                <Moment at={row.createdAt} />
              </>
            )}
            {row.sourceRevision === null ? null : ` · ${t('file.from', { revision: row.sourceRevision })}`}
          </span>
          <div className="line">
            {row.revision === shown ? null : (
              <Link className="small" to="." search={(before) => ({ ...before, with: String(row.revision) })}>
                {t('file.compare')}
              </Link>
            )}
            {row.revision === newest || row.removed === true ? null : (
              <Act
                by="restoreAsset"
                on={repository}
                size="compact-xs"
                icon="undo"
                label={t('file.restore')}
                busy={restore.isPending}
                run={() => void run(row.revision)}
              />
            )}
          </div>
        </li>
      ))}
    </ol>
  )
}

/** Two revisions beside each other: the same bytes, or what of them differs. */
const Compare = ({
  repository,
  one,
  other,
}: {
  readonly repository: string
  readonly one: Revision
  readonly other: Revision
}) => {
  const navigate = useNavigate()
  const first = useAsk('getArtifact', { path: { repository, id: one.artifactId } })
  const second = useAsk('getArtifact', { path: { repository, id: other.artifactId } })
  const same = first.data?.descriptor.sha256 === second.data?.descriptor.sha256
  return (
    <Section
      title={t('file.compared', { one: one.revision, other: other.revision })}
      actions={
        <button
          type="button"
          className="link"
          onClick={() => void navigate({ to: '.', search: ({ with: _, ...before }) => before })}
        >
          {t('dialog.close')}
        </button>
      }
    >
      <div className="panel">
        <p className="line">
          <Icon name={same ? 'check' : 'compare'} />
          {same ? t('file.same') : t('file.differs')}
        </p>
        <div className="scroll-x">
          <table className="plain-table">
            <thead>
              <tr>
                <th>{t('list.revision')}</th>
                <th>{t('list.size')}</th>
                <th>{t('value.digest')}</th>
                <th>{t('list.who')}</th>
              </tr>
            </thead>
            <tbody>
              {[
                { row: one, record: first.data },
                { row: other, record: second.data },
              ].map(({ row, record }) => (
                <tr key={row.revision}>
                  <td>{row.revision}</td>
                  <td>{record === undefined ? '' : <Size bytes={record.descriptor.size} />}</td>
                  <td>{record === undefined ? '' : <Digest sha256={record.descriptor.sha256} />}</td>
                  <td>{row.actor === null ? '' : <Actor actor={row.actor} name={row.actorName} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </div>
      {first.data === undefined || second.data === undefined || same ? null : (
        <Differences
          repository={repository}
          one={{ id: one.artifactId, size: Number(first.data.descriptor.size) }}
          other={{ id: other.artifactId, size: Number(second.data.descriptor.size) }}
        />
      )}
    </Section>
  )
}

interface Sized {
  readonly id: string
  readonly size: number
}

const signs = { same: ' ', added: '+', removed: '−', between: ' ' } as const

/** Line by line what differs, where both are text and not too long. */
const Differences = ({
  repository,
  one,
  other,
}: {
  readonly repository: string
  readonly one: Sized
  readonly other: Sized
}) => {
  const short = Math.max(one.size, other.size) <= textBytesMax
  const read = useQuery({
    queryKey: ['differences', repository, one.id, other.id],
    enabled: short,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const [before, after] = await Promise.all(
        [one, other].map(async ({ id, size }) =>
          size === 0 ? '' : (await bytesOf(repository, id, textBytesMax, signal)).text(),
        ),
      )
      if (before === undefined || after === undefined || !isText(before) || !isText(after)) return null
      return lineDifferences(before, after)
    },
  })
  if (!short) return <p className="muted">{t('file.tooLarge')}</p>
  return (
    <Shown of={read} rows={4}>
      {(lines) =>
        lines === null ? (
          <p className="muted">{t('file.tooLarge')}</p>
        ) : (
          <>
            <p className="muted small">
              {t('file.lines', {
                added: lines.filter(({ kind }) => kind === 'added').length,
                removed: lines.filter(({ kind }) => kind === 'removed').length,
              })}
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
            <section className="differences" tabIndex={0} aria-label={t('file.compare')}>
              <ol>
                {lines.map(({ kind, text }, at) => (
                  <li key={String(at)} className={kind}>
                    <span>{signs[kind]}</span>
                    <span>{text}</span>
                  </li>
                ))}
              </ol>
            </section>
          </>
        )
      }
    </Shown>
  )
}

const Ending = ({
  repository,
  path,
  revision,
  removed,
}: {
  readonly repository: string
  readonly path: string
  readonly revision: number
  readonly removed: boolean
}) => {
  const [open, setOpen] = useState(false)
  const remove = useChange('removeAsset', ['listAssetHistory', 'listAssetPage'])
  const restore = useChange('restoreAsset', ['listAssetHistory', 'listAssetPage'])
  const run = async (): Promise<void> => {
    const gone = await remove.mutateAsync({ path: { repository }, body: { path, expectedRevision: revision } })
    setOpen(false)
    tell(t('file.wasRemoved', { path }), () => {
      restore
        .mutateAsync({
          path: { repository },
          body: { path, sourceRevision: revision, expectedRevision: gone.revision },
        })
        .then(() => tell(t('file.back')), tellProblem)
    })
  }
  if (removed) return null
  return (
    <>
      <Act by="removeAsset" on={repository} icon="trash" label={t('file.remove')} run={() => setOpen(true)} />
      <FormDialog
        title={t('file.remove')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void run().catch(() => {})}
        label={t('file.remove')}
        busy={remove.isPending}
        error={remove.error}
        danger
      >
        <p>{t('file.removing', { path })}</p>
      </FormDialog>
    </>
  )
}
