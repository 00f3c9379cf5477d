import type { ComponentType } from 'preact'
import { accountId } from '../../api/call.js'
import { session } from '../../api/session.js'
import { NoAccount } from '../../parts/NoAccount.js'
import { Tabs } from '../../parts/Tabs.js'
import { hrefOf, place } from '../../router.js'
import { Accounts } from './Accounts.js'
import { Instance } from './Instance.js'
import { Members } from './Members.js'
import { Sessions } from './Sessions.js'
import { Storage } from './Storage.js'
import { Tokens } from './Tokens.js'
import { Users } from './Users.js'
import './settings.css'

type View = {
  readonly view: string
  readonly name: string
  readonly of: 'account' | 'user' | 'operator'
  readonly Content: ComponentType
}

const views: readonly View[] = [
  { view: '', name: 'Members', of: 'account', Content: Members },
  { view: 'tokens', name: 'Tokens', of: 'account', Content: Tokens },
  { view: 'you', name: 'You', of: 'user', Content: Sessions },
  { view: 'accounts', name: 'Accounts', of: 'operator', Content: Accounts },
  { view: 'users', name: 'Users', of: 'operator', Content: Users },
  { view: 'instance', name: 'Instance', of: 'operator', Content: Instance },
  { view: 'storage', name: 'Storage', of: 'operator', Content: Storage },
]

/** People and tokens of the account, the user's own sessions, and for operators all accounts and users. */
export function Settings() {
  const name = place.value.search.get('view') ?? ''
  const isOperator = session.value?.user.isOperator === true
  const shown = views.filter((each) => each.of !== 'operator' || isOperator)
  const here = shown.find(({ view }) => view === name) ?? shown[0]
  if (here === undefined) return null
  const { Content } = here
  return (
    <div class="screen">
      <h1>Settings</h1>
      <Tabs
        label="Settings"
        tabs={shown.map((each) => ({
          name: each.name,
          href: hrefOf('settings', { view: each.view }),
          isHere: each === here,
        }))}
      />
      {here.of === 'account' && accountId.value === undefined ? <NoAccount /> : <Content />}
    </div>
  )
}
