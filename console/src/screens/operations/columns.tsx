import { appName, chainName, payerName, payerWithoutPaymaster } from '../../api/names.js'
import type { Decision, Operation, Refusal } from '../../api/shapes.js'
import { Age } from '../../parts/Age.js'
import { Amount } from '../../parts/Amount.js'
import { shortOf, spanOf } from '../../parts/format.js'
import { State, stateOf } from '../../parts/State.js'
import type { Column } from '../../parts/Table.js'

function short(value: string | null) {
  return value === null ? '–' : <code title={value}>{shortOf(value)}</code>
}

/** The time from the acceptance of an operation to its end. */
function tookOf({ state, receivedAt, updatedAt }: Operation): string {
  if (state !== 'included') return '–'
  return spanOf(Math.max(0, Date.parse(updatedAt) - Date.parse(receivedAt)))
}

export const operationColumns: readonly Column<Operation>[] = [
  { name: 'State', cell: (row) => <State name={stateOf(row)} /> },
  { name: 'Age', cell: ({ receivedAt }) => <Age at={receivedAt} /> },
  { name: 'Hash', cell: ({ userOpHash }) => short(userOpHash) },
  { name: 'Sender', shown: 'wide', cell: ({ sender }) => short(sender) },
  { name: 'App', shown: 'widest', cell: ({ appId }) => appName(appId) },
  { name: 'Chain', shown: 'wide', cell: ({ chainId }) => chainName(chainId) },
  {
    name: 'Paid by',
    shown: 'widest',
    cell: ({ chainId, paymaster, maxCost }) =>
      paymaster === null ? (
        payerWithoutPaymaster(maxCost)
      ) : (
        <span title={paymaster}>{payerName(chainId, paymaster)}</span>
      ),
  },
  {
    name: 'Cost',
    isNumber: true,
    cell: ({ chainId, actualCost, maxCost }) =>
      actualCost === null && maxCost === '0' ? (
        '–'
      ) : (
        <Amount chainId={chainId} wei={actualCost ?? maxCost} isMost={actualCost === null} />
      ),
  },
  { name: 'Took', shown: 'widest', isNumber: true, cell: tookOf },
]

/** What was answered, cut to the width. */
const why: Column<{ readonly message: string }> = {
  name: 'Why',
  cell: ({ message }) => (
    <span class="cut" title={message}>
      {message}
    </span>
  ),
}

export const refusalColumns: readonly Column<Refusal>[] = [
  { name: 'Age', cell: ({ at }) => <Age at={at} /> },
  { name: 'Code', cell: ({ rule, code }) => <code>{rule ?? code}</code> },
  why,
  { name: 'Method', shown: 'widest', cell: ({ method }) => <code>{method}</code> },
  { name: 'Sender', shown: 'wide', cell: ({ sender }) => short(sender) },
  { name: 'Chain', shown: 'widest', cell: ({ chainId }) => chainName(chainId) },
]

export const decisionColumns: readonly Column<Decision>[] = [
  { name: 'Age', cell: ({ createdAt }) => <Age at={createdAt} /> },
  { name: 'Code', cell: ({ code }) => <code>{code}</code> },
  why,
  { name: 'Sender', shown: 'wide', cell: ({ sender }) => short(sender) },
  {
    name: 'Max cost',
    shown: 'wide',
    isNumber: true,
    cell: ({ chainId, maxCost }) => <Amount chainId={chainId} wei={maxCost} isMost />,
  },
]
