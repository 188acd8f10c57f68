import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk } from '../../contract/asking.ts'
import { Act } from '../../parts/act.tsx'
import { Section } from '../../parts/page.tsx'
import { Forbidden, Shown } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { Tag } from '../../parts/values.tsx'
import { useMay } from '../../session/holders.ts'
import { said, t } from '../../words/words.ts'
import { ChangePerson, CreatePerson, type User } from './person-dialogs.tsx'

/** Accounts of people, their groups and whether they may come in. */
export const People = () => {
  const allowed = useMay()('listUsers')
  const users = useAsk('listUsers', {}, { enabled: allowed.may })
  const groups = useAsk('listAccessGroups', {}, { enabled: allowed.may })
  const [creating, setCreating] = useState(false)
  const [changing, setChanging] = useState<User | null>(null)
  if (!allowed.may) return <Forbidden missing={allowed} />
  const groupsOf = (id: string): string =>
    (groups.data?.items ?? [])
      .filter(({ members }) => members.includes(id))
      .map(({ name }) => name)
      .join(', ')
  return (
    <Section
      title={said('access.tab', 'people')}
      actions={<Act by="createUser" icon="plus" label={t('access.newPerson')} run={() => setCreating(true)} />}
    >
      <Shown of={users}>
        {({ items }) => (
          <Table
            heads={[t('list.name'), t('me.role'), said('access.tab', 'groups'), t('list.state'), t('list.actions')]}
          >
            {items.map((user) => (
              <tr key={user.id}>
                <td>
                  <strong>{user.name}</strong>
                </td>
                <td>{user.administrator ? <Tag tone="accent" text={t('me.administrator')} /> : t('me.person')}</td>
                <td className="room">{groupsOf(user.id) || '–'}</td>
                <td>
                  {user.enabled ? (
                    <Tag tone="ok" text={t('access.enabled')} />
                  ) : (
                    <Tag tone="warn" text={t('access.disabled')} />
                  )}
                </td>
                <td>
                  <span className="line">
                    <Button size="compact-xs" variant="default" onClick={() => setChanging(user)}>
                      {t('artifact.edit')}
                    </Button>
                    <Link to="/access" search={{ tab: 'explain', who: user.name }}>
                      {t('explain.why')}
                    </Link>
                  </span>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Shown>
      {creating ? <CreatePerson close={() => setCreating(false)} /> : null}
      {changing === null ? null : <ChangePerson user={changing} close={() => setChanging(null)} />}
    </Section>
  )
}
