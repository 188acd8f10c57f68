import { SegmentedControl } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useAsk } from '../../contract/asking.ts'
import { Chart } from '../../parts/chart.tsx'
import { Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { shortBytes } from '../../values/format.ts'
import { t } from '../../words/words.ts'
import type { Of } from './of.ts'

const spans = ['7', '31', '400'] as const

/** How full a repository was, beside its quota. */
export const OverTime = ({ repository }: Of) => {
  const [days, setDays] = useState<string>('31')
  const read = useAsk('listUsageSamples', { path: { repository }, query: { days: Number(days) } })
  const items = read.data?.items
  const drawn = useMemo(() => {
    const last = items?.at(-1)
    if (items === undefined || last === undefined) return null
    // What was sampled last holds until now.
    const all = [...items, { ...last, takenAt: new Date().toISOString() }]
    const quotas = all.map(({ quotaBytes }) => (quotaBytes === null ? null : Number(quotaBytes)))
    return {
      times: all.map(({ takenAt }) => takenAt),
      series: [
        { name: t('storage.published'), values: all.map(({ publishedBytes }) => Number(publishedBytes)) },
        { name: t('storage.retired'), values: all.map(({ retiredBytes }) => Number(retiredBytes)) },
        ...(quotas.every((quota) => quota === null) ? [] : [{ name: t('storage.quota'), values: quotas }]),
      ],
    }
  }, [items])
  return (
    <Section
      title={t('chart.usage')}
      actions={
        <SegmentedControl
          aria-label={t('chart.span')}
          size="xs"
          value={days}
          onChange={setDays}
          data={spans.map((value) => ({ value, label: t('me.days', { days: Number(value) }) }))}
        />
      }
    >
      <Shown of={read} rows={4}>
        {() =>
          drawn === null ? (
            <p className="muted">{t('chart.none')}</p>
          ) : (
            <Chart label={t('chart.usage')} {...drawn} days={Number(days)} ofBytes say={shortBytes} />
          )
        }
      </Shown>
    </Section>
  )
}
