import { Button, SegmentedControl, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import { Act } from '../../parts/act.tsx'
import { Commands } from '../../parts/copy.tsx'
import { FormDialog, SecretDialog } from '../../parts/dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { Moment, Tag, Written } from '../../parts/values.tsx'
import { said, t } from '../../words/words.ts'

const day = 24 * 3_600_000

/** What acts in one's name without a browser. */
export const Tokens = () => {
  const list = useAsk('listTokens', {})
  const [open, setOpen] = useState(false)
  const [name, setName] = useState('')
  const [scope, setScope] = useState<'read' | 'read-write'>('read')
  const [days, setDays] = useState('90')
  const [secret, setSecret] = useState<string | null>(null)
  const create = useChange('createToken', ['listTokens'])
  const revoke = useChange('revokeToken', ['listTokens'])
  const submit = async (): Promise<void> => {
    const expiresAt = days === 'never' ? null : new Date(Date.now() + Number(days) * day).toISOString()
    const { token } = await create.mutateAsync({ body: { name, scope, expiresAt } })
    setOpen(false)
    setName('')
    setSecret(token)
  }
  return (
    <Section
      title={t('me.tokens')}
      actions={<Act by="createToken" icon="plus" label={t('me.newToken')} run={() => setOpen(true)} />}
    >
      <Shown of={list} rows={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="muted">{t('me.noTokens')}</p>
          ) : (
            <Table heads={[t('list.name'), t('me.scope'), t('me.used'), t('me.expires'), t('list.actions')]}>
              {items.map((token) => (
                <tr key={token.id}>
                  <td>
                    <Written text={token.name} /> <code className="muted">{token.prefix}…</code>
                  </td>
                  <td>
                    <Tag tone={token.scope === 'read' ? 'plain' : 'accent'} text={said('scope', token.scope)} />
                  </td>
                  <td>{token.lastUsedAt === null ? t('me.never') : <Moment at={token.lastUsedAt} />}</td>
                  <td>
                    {token.revoked ? (
                      <Tag tone="warn" text={t('me.revoked')} />
                    ) : token.expiresAt === null ? (
                      t('me.noEnd')
                    ) : (
                      <Moment at={token.expiresAt} />
                    )}
                  </td>
                  <td>
                    {token.revoked ? null : (
                      <Button
                        size="compact-xs"
                        variant="default"
                        onClick={() =>
                          revoke.mutate(
                            { path: { id: token.id } },
                            {
                              onError: tellProblem,
                              onSuccess: () => tell(t('me.wasRevoked', { name: token.name })),
                            },
                          )
                        }
                      >
                        {t('me.revoke')}
                      </Button>
                    )}
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Shown>
      <FormDialog
        title={t('me.newToken')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void submit().catch(() => {})}
        label={t('me.create')}
        busy={create.isPending}
        error={create.error}
        ready={name !== ''}
      >
        <TextInput
          label={t('me.tokenName')}
          description={t('me.tokenHint')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <SegmentedControl
          aria-label={t('me.scope')}
          value={scope}
          onChange={(next) => setScope(next === 'read' ? 'read' : 'read-write')}
          data={[
            { value: 'read', label: said('scope', 'read') },
            { value: 'read-write', label: said('scope', 'read-write') },
          ]}
        />
        <Select
          label={t('me.expires')}
          value={days}
          onChange={(next) => setDays(next ?? '90')}
          allowDeselect={false}
          data={['30', '90', '365', 'never'].map((value) => ({
            value,
            label: value === 'never' ? t('me.noEnd') : t('me.days', { days: Number(value) }),
          }))}
        />
      </FormDialog>
      <SecretDialog title={t('me.token')} secret={secret} close={() => setSecret(null)}>
        <Commands text={secret ?? ''} what={t('me.token')} />
      </SecretDialog>
    </Section>
  )
}
