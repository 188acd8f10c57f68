import { Link } from '@tanstack/react-router'
import { useAsk } from '../../contract/asking.ts'
import { Download } from '../../parts/download.tsx'
import { Facts } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { Digest, Moment, Size } from '../../parts/values.tsx'
import { t } from '../../words/words.ts'
import { Preview } from './preview.tsx'

/** The file that a revision shows. */
export const Content = ({ repository, id }: { readonly repository: string; readonly id: string }) => {
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
                    {t('file.whole')}
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
