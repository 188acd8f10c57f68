import { usePages } from '../../contract/asking.ts'
import { timeColumn } from '../../parts/columns.tsx'
import { Listed } from '../../parts/listed.tsx'
import { Empty } from '../../parts/states.tsx'
import { Tag } from '../../parts/values.tsx'
import { said, t } from '../../words/words.ts'
import type { Of } from './of.ts'

const levels = { info: 'info', warning: 'warn', error: 'danger' } as const

/** What happened to the storage of a repository. */
export const Events = ({ repository }: Of) => {
  const list = usePages('listStorageEvents', (after) => ({
    path: { repository },
    query: { order: 'desc', ...(after === undefined ? {} : { after: String(after) }) },
  }))
  return (
    <Listed
      of={list}
      label={said('storage.tab', 'events')}
      keyOf={({ sequence }) => sequence}
      columns={[
        timeColumn(),
        {
          key: 'level',
          label: t('list.state'),
          width: '96px',
          wide: 'middle',
          show: ({ level }) => <Tag tone={levels[level]} text={said('level', level)} />,
        },
        {
          key: 'code',
          label: t('activity.what'),
          width: 'minmax(120px, 1fr)',
          show: ({ code }) => <span title={code}>{said('storage.event', code)}</span>,
        },
        {
          key: 'details',
          label: t('storage.details'),
          width: 'minmax(140px, 2fr)',
          wide: true,
          show: ({ details }) =>
            Object.entries(details)
              .map(([name, value]) => `${name}: ${value}`)
              .join(', '),
        },
      ]}
      empty={<Empty icon="disk" title={t('storage.noEvents')} />}
    />
  )
}
