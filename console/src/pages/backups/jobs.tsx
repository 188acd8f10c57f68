import { usePages } from '../../contract/asking.ts'
import { momentColumn } from '../../parts/columns.tsx'
import { Listed } from '../../parts/listed.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { Tag } from '../../parts/values.tsx'
import { said, t } from '../../words/words.ts'

/** What the agent did and does. */
export const Jobs = () => {
  const jobs = usePages('listBackupJobs', (after) => ({
    query: { limit: 50, ...(after === undefined ? {} : { after: String(after) }) },
  }))
  return (
    <Section title={t('backups.jobs')}>
      <Listed
        of={jobs}
        label={t('backups.jobs')}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'kind',
            label: t('activity.what'),
            width: 'minmax(100px, 1fr)',
            show: ({ kind }) => said('backup.kind', kind),
          },
          {
            key: 'state',
            label: t('list.state'),
            width: '120px',
            show: ({ state }) => (
              <Tag
                tone={state === 'completed' ? 'ok' : state === 'failed' || state === 'interrupted' ? 'danger' : 'info'}
                text={said('job', state)}
              />
            ),
          },
          momentColumn('startedAt', t('activity.when')),
          {
            key: 'error',
            label: t('list.error'),
            width: 'minmax(96px, 1fr)',
            wide: true,
            show: ({ errorCode }) => errorCode,
          },
        ]}
        empty={<Empty icon="history" title={t('backups.noJobs')} />}
      />
    </Section>
  )
}
