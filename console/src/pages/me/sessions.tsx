import { Button } from '@mantine/core'
import { useAsk, useChange } from '../../contract/asking.ts'
import { Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { Moment, Tag } from '../../parts/values.tsx'
import { t } from '../../words/words.ts'

/** Where one is signed in; what one does not know is ended from here. */
export const Sessions = () => {
  const list = useAsk('listSessions', {})
  const end = useChange('endSession', ['listSessions'])
  return (
    <Section title={t('me.sessions')}>
      <Shown of={list} rows={1}>
        {({ items }) => (
          <Table heads={[t('me.since'), t('me.expires'), t('list.actions')]}>
            {items.map(({ id, createdAt, expiresAt, current }) => (
              <tr key={id}>
                <td>
                  <Moment at={createdAt} />
                </td>
                <td>
                  <Moment at={expiresAt} />
                </td>
                <td>
                  {current ? (
                    <Tag tone="accent" text={t('me.here')} />
                  ) : (
                    <Button
                      size="compact-xs"
                      variant="default"
                      onClick={() =>
                        end.mutate(
                          { path: { id } },
                          { onSuccess: () => tell(t('me.sessionEnded')), onError: tellProblem },
                        )
                      }
                    >
                      {t('me.endSession')}
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Shown>
    </Section>
  )
}
