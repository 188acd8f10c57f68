import { SegmentedControl } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useAsk } from '../contract/asking.ts'
import { Chart } from '../parts/chart.tsx'
import { Section } from '../parts/page.tsx'
import { Shown } from '../parts/states.tsx'
import { t } from '../words/words.ts'

const spans = ['1', '7', '31'] as const

const plain = (value: number): string => (Number.isInteger(value) ? String(value) : '')

/** What waited to be done, by what it was. */
export const QueueOverTime = () => {
  const [days, setDays] = useState<string>('1')
  const read = useAsk('listServiceSamples', { query: { days: Number(days) } }, { everyMs: 60_000 })
  const items = read.data?.items
  const drawn = useMemo(
    () => ({
      times: (items ?? []).map(({ takenAt }) => takenAt),
      series: [
        { name: t('system.sessions'), values: (items ?? []).map(({ openUploadSessions }) => openUploadSessions) },
        { name: t('system.jobs'), values: (items ?? []).map(({ openJobs }) => openJobs) },
      ],
    }),
    [items],
  )
  return (
    <Section
      title={t('chart.queue')}
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
          drawn.times.length === 0 ? (
            <p className="muted">{t('chart.none')}</p>
          ) : (
            <Chart label={t('chart.queue')} {...drawn} days={Number(days)} say={plain} />
          )
        }
      </Shown>
    </Section>
  )
}
