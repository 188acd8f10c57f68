import { TextInput } from '@mantine/core'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { usePages } from '../contract/asking.ts'
import type { Answer } from '../contract/call.ts'
import { Icon } from '../look/icons.tsx'
import { Page, Section } from '../parts/page.tsx'
import { Empty, Failed, Forbidden, Loading } from '../parts/states.tsx'
import { Actor, Moment, shownAs, Tag } from '../parts/values.tsx'
import { useMay } from '../session/holders.ts'
import { t } from '../words/words.ts'

type Entry = Answer<'listStages'>['items'][number]
type ImageEntry = Answer<'listImageStages'>['items'][number]

/** What is on which stage: files and images, a column for each stage. */
export const Stages = () => {
  const { repository } = useParams({ from: '/r/$repository/stages' })
  const { stage = '' } = useSearch({ from: '/r/$repository/stages' })
  const navigate = useNavigate({ from: '/r/$repository/stages' })
  const [typed, setTyped] = useState(stage)
  const may = useMay()
  const allowed = may('listStages', repository)
  const query = stage === '' ? {} : { stage }
  const files = usePages(
    'listStages',
    (after) => ({
      path: { repository },
      query: { ...query, limit: 100, ...(after === undefined ? {} : { after: String(after) }) },
    }),
    { enabled: allowed.may },
  )
  const images = usePages(
    'listImageStages',
    (after) => ({
      path: { repository },
      query: { ...query, limit: 100, ...(after === undefined ? {} : { after: String(after) }) },
    }),
    { enabled: may('listImageStages', repository).may },
  )
  if (!allowed.may)
    return (
      <Page title={t('tab.stages')}>
        <Forbidden missing={allowed} />
      </Page>
    )
  const entries = files.data?.pages.flatMap(({ items }) => items) ?? []
  const imageEntries = images.data?.pages.flatMap(({ items }) => items) ?? []
  const names = [...new Set([...entries, ...imageEntries].map((each) => each.stage))].sort()
  return (
    <Page title={t('tab.stages')} lead={t('stages.lead')}>
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault()
          void navigate({ search: typed.trim() === '' ? {} : { stage: typed.trim() } })
        }}
      >
        <TextInput
          className="grow"
          aria-label={t('artifact.stageName')}
          placeholder={t('artifact.stageName')}
          leftSection={<Icon name="tag" />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </form>
      {files.error === null ? null : <Failed error={files.error} again={() => void files.refetch()} />}
      {files.isPending ? (
        <Loading />
      ) : names.length === 0 ? (
        <Empty icon="tag" title={t('stages.none')}>
          <p className="muted">{t('stages.how')}</p>
        </Empty>
      ) : (
        <div className="board">
          {names.map((name) => (
            <Column
              key={name}
              repository={repository}
              stage={name}
              files={entries.filter((each) => each.stage === name)}
              images={imageEntries.filter((each) => each.stage === name)}
            />
          ))}
        </div>
      )}
      {files.hasNextPage ? (
        <button type="button" className="link" onClick={() => void files.fetchNextPage()}>
          {t('list.more')}
        </button>
      ) : null}
    </Page>
  )
}

const byTime = (one: { readonly promotedAt: string }, other: { readonly promotedAt: string }): number =>
  one.promotedAt < other.promotedAt ? 1 : -1

const Column = ({
  repository,
  stage,
  files,
  images,
}: {
  readonly repository: string
  readonly stage: string
  readonly files: readonly Entry[]
  readonly images: readonly ImageEntry[]
}) => (
  <Section title={stage} actions={<Tag text={String(files.length + images.length)} />}>
    <ul className="lines">
      {[...files].sort(byTime).map((entry) => (
        <li key={entry.artifactId} className="card">
          <Link to="/r/$repository/artifacts/$id" params={{ repository, id: entry.artifactId }} className="mono">
            {shownAs(entry.artifactName ?? `${entry.artifactId.slice(0, 13)}…`)}
          </Link>
          <Given entry={entry} />
        </li>
      ))}
      {[...images].sort(byTime).map((entry) => (
        <li key={entry.image + entry.digest} className="card">
          <Link
            to="/r/$repository/images"
            params={{ repository }}
            search={{ image: entry.image, reference: entry.digest }}
            className="mono"
          >
            {entry.image}
          </Link>
          <Given entry={entry} />
        </li>
      ))}
    </ul>
  </Section>
)

const Given = ({ entry }: { readonly entry: Pick<Entry, 'actor' | 'actorName' | 'promotedAt' | 'comment'> }) => (
  <>
    {entry.comment === null ? null : <p>{shownAs(entry.comment)}</p>}
    <span className="muted small">
      <Actor actor={entry.actor} name={entry.actorName} /> · <Moment at={entry.promotedAt} />
    </span>
  </>
)
