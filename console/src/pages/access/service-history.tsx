import { usePages } from '../../contract/asking.ts'
import { actorColumn, timeColumn } from '../../parts/columns.tsx'
import { Listed } from '../../parts/listed.tsx'
import { Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import { t } from '../../words/words.ts'

/** What was done with the account of a program, by whom. */
export const History = ({ id }: { readonly id: string }) => {
  const list = usePages('getServiceAudit', (after) => ({
    path: { id },
    query: { order: 'desc', ...(after === undefined ? {} : { after: String(after) }) },
  }))
  return (
    <Section title={t('file.history')}>
      <Listed
        of={list}
        label={t('file.history')}
        keyOf={({ sequence }) => sequence}
        columns={[
          timeColumn(),
          actorColumn(),
          {
            key: 'what',
            label: t('activity.what'),
            width: 'minmax(120px, 1fr)',
            show: ({ action }) => <span className="mono">{action}</span>,
          },
        ]}
        empty={<Empty icon="history" title={t('activity.none')} />}
      />
    </Section>
  )
}
