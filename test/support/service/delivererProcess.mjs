import { pino } from 'pino'
import { createOutboundClient } from '../../../dist/outbound/guardedRequest.js'
import { createNetworkGuard, loopback } from '../../../dist/outbound/networkGuard.js'
import { openDatabase } from '../../../dist/store/database.js'
import { startEventDeliverer } from '../../../dist/webhook/deliverEvents.js'

const { connection, masterKey, lease } = JSON.parse(process.argv[2] ?? '')
const logger = pino({ level: 'silent' })
startEventDeliverer({
  database: openDatabase(connection, logger),
  masterKey: Buffer.from(masterKey, 'hex'),
  client: createOutboundClient(createNetworkGuard(loopback)),
  logger,
  onDeliveryAttempted: () => {},
  lease,
})
