import { useNavigate } from '@tanstack/react-router'
import { useAsk } from '../../contract/asking.ts'
import { Icon } from '../../look/icons.tsx'
import { Section } from '../../parts/page.tsx'
import { Actor, Digest, Size } from '../../parts/values.tsx'
import { t } from '../../words/words.ts'
import { Differences } from './differences.tsx'
import type { Revision } from './revision.ts'

/** Two revisions beside each other: the same bytes, or what of them differs. */
export const Compare = ({
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
