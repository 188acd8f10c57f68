import { useParams } from '@tanstack/react-router'
import { useAsk } from '../../contract/asking.ts'
import { Download } from '../../parts/download.tsx'
import { Facts, Page } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { Digest, Moment, Size } from '../../parts/values.tsx'
import { t } from '../../words/words.ts'
import { Preview } from '../file/preview.tsx'
import { Annotations } from './annotations.tsx'
import { Attachments } from './attachments.tsx'
import { Delete } from './delete.tsx'
import { Lifeline } from './lifeline.tsx'
import { Paths } from './places.tsx'
import { Promote } from './promote.tsx'
import { References } from './references.tsx'
import { Stages } from './stages.tsx'
import { Why } from './why.tsx'

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
              <Attachments repository={repository} id={id} />
              <Preview repository={repository} id={id} name={descriptor.name} size={Number(descriptor.size)} />
            </div>
            <div className="lines">
              <Annotations repository={repository} id={id} />
              <Stages repository={repository} id={id} />
              <References repository={repository} id={id} />
              <Why repository={repository} id={id} />
            </div>
          </div>
        )}
      </Shown>
    </Page>
  )
}
