import { Link, useParams, useSearch } from '@tanstack/react-router'
import { useAsk } from '../../contract/asking.ts'
import { Download } from '../../parts/download.tsx'
import { Facts, Page } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Digest, Moment, Size } from '../../parts/values.tsx'
import { said, t } from '../../words/words.ts'
import { Preview } from '../file/preview.tsx'
import { Annotations } from './annotations.tsx'
import { Attachments } from './attachments.tsx'
import { Delete } from './delete.tsx'
import { Lifeline } from './lifeline.tsx'
import type { Of } from './of.ts'
import { Paths } from './places.tsx'
import { Promote } from './promote.tsx'
import { References } from './references.tsx'
import { Stages } from './stages.tsx'
import { Why } from './why.tsx'

/** What there is to know of a file, asked for when somebody looks: a page costs few questions. */
const tabs = ['about', 'content', 'history', 'attached', 'kept'] as const
type Tab = (typeof tabs)[number]

/** A published file: what it is, what is said of it, where it went, and why it is kept. */
export const Artifact = () => {
  const { repository, id } = useParams({ from: '/r/$repository/artifacts/$id' })
  const { tab } = useSearch({ from: '/r/$repository/artifacts/$id' })
  const open = tabs.find((each) => each === tab) ?? 'about'
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
          <>
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
            <Tabs label={t('artifact.known')} at={tabs.indexOf(open)}>
              {tabs.map((each) => (
                <Link
                  key={each}
                  to="/r/$repository/artifacts/$id"
                  params={{ repository, id }}
                  search={{ tab: each }}
                  className={each === open ? 'active' : ''}
                >
                  {said('artifact.tab', each)}
                </Link>
              ))}
            </Tabs>
            <Part
              open={open}
              repository={repository}
              id={id}
              publishedAt={createdAt}
              name={descriptor.name}
              size={Number(descriptor.size)}
            />
          </>
        )}
      </Shown>
    </Page>
  )
}

const Part = ({
  open,
  repository,
  id,
  publishedAt,
  name,
  size,
}: Of & { readonly open: Tab; readonly publishedAt: string; readonly name: string; readonly size: number }) => {
  const of = { repository, id }
  switch (open) {
    case 'about':
      return (
        <div className="halves">
          <Annotations {...of} />
          <Stages {...of} />
        </div>
      )
    case 'content':
      return (
        <>
          <Paths {...of} />
          <Preview {...of} name={name} size={size} />
        </>
      )
    case 'history':
      return <Lifeline {...of} publishedAt={publishedAt} />
    case 'attached':
      return <Attachments {...of} />
    case 'kept':
      return (
        <div className="halves">
          <Why {...of} />
          <References {...of} />
        </div>
      )
  }
}
