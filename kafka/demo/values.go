package demo

import (
	"fmt"
	"time"
)

// The makers of keys and values. They are written with Appendf rather than encoding/json, so that field order and
// number formats are those of the systems that they imitate.

var (
	currencies = []string{"EUR", "USD", "GBP", "JPY", "CHF"}
	countries  = []string{"DE", "FR", "NL", "GB", "US", "JP", "ES", "PL"}
	carriers   = []string{"DHL", "UPS", "GLS", "DPD"}
	skus       = []string{"TSHIRT-M-BLK", "MUG-350", "LAMP-OAK", "BAG-CANVAS", "DESK-140", "CHAIR-ERGO", "CABLE-USBC", "BOOK-7731"}
	pages      = []string{"/", "/search?q=lamp", "/p/LAMP-OAK", "/p/DESK-140", "/cart", "/checkout", "/account/orders"}
	people     = []string{"m.keller", "s.dubois", "j.tanaka", "a.novak", "l.garcia", "o.brandt"}
)

func (m *maker) pick(of []string) string { return of[m.IntN(len(of))] }

func (m *maker) customer() int { return 4000 + m.IntN(6000) }

func (m *maker) cents(max int) string {
	return fmt.Sprintf("%d.%02d", 1+m.IntN(max), m.IntN(100))
}

// poisonEvery is how many orders there are for one that no worker can handle.
const poisonEvery = 220

// poison is what an order has that no worker can handle: a currency that is null.
const poison = `"currency":null`

func order(m *maker) (key, value []byte) {
	customer := m.customer()
	currency := `"` + m.pick(currencies) + `"`
	if m.n%poisonEvery == poisonEvery/10 {
		currency = "null"
	}
	return fmt.Appendf(nil, "cust-%d", customer),
		fmt.Appendf(nil, `{"orderId":%d,"type":"OrderPlaced","customerId":%d,"items":[{"sku":"%s","qty":%d,"price":%s}],"total":%s,"currency":%s,"country":"%s"}`,
			880000+m.n, customer, m.pick(skus), 1+m.IntN(4), m.cents(80), m.cents(400), currency, m.pick(countries))
}

func payment(m *maker) (key, value []byte) {
	order := 880000 + m.n
	status := "CAPTURED"
	if m.IntN(20) == 0 {
		status = "DECLINED"
	}
	return fmt.Appendf(nil, "order-%d", order),
		fmt.Appendf(nil, `{"paymentId":"pay_%08x","orderId":%d,"amount":%s,"currency":"%s","method":"card","status":"%s"}`,
			m.Uint32(), order, m.cents(400), m.pick(currencies), status)
}

func shipment(m *maker) (key, value []byte) {
	order := 879000 + m.n
	return fmt.Appendf(nil, "order-%d", order),
		fmt.Appendf(nil, `{"shipmentId":"SH%07d","orderId":%d,"carrier":"%s","parcels":%d,"weightKg":%s,"destination":"%s"}`,
			1000000+m.n, order, m.pick(carriers), 1+m.IntN(2), m.cents(12), m.pick(countries))
}

func pageView(m *maker) (key, value []byte) {
	session := m.Uint32()
	return fmt.Appendf(nil, "%08x", session),
		fmt.Appendf(nil, `{"session":"%08x","path":"%s","country":"%s","ms":%d,"referrer":null}`,
			session, m.pick(pages), m.pick(countries), 20+m.IntN(900))
}

func audit(m *maker) (key, value []byte) {
	who := m.pick(people)
	return []byte(who),
		fmt.Appendf(nil, `{"actor":"%s","action":"%s","resource":"customer/%d","ip":"192.0.2.%d","result":"ok"}`,
			who, m.pick([]string{"customer.view", "customer.update", "refund.approve", "export.download"}), m.customer(), 1+m.IntN(250))
}

func stock(m *maker) (key, value []byte) {
	sku := m.pick(skus)
	return []byte(sku),
		fmt.Appendf(nil, `{"sku":"%s","warehouse":"%s-%d","delta":%d,"onHand":%d}`,
			sku, m.pick(countries), 1+m.IntN(3), m.IntN(20)-12, m.IntN(900))
}

func notification(m *maker) (key, value []byte) {
	customer := m.customer()
	return fmt.Appendf(nil, "cust-%d", customer),
		fmt.Appendf(nil, `{"customerId":%d,"channel":"%s","template":"%s","locale":"%s"}`,
			customer, m.pick([]string{"push", "sms", "email"}), m.pick([]string{"order-confirmed", "parcel-shipped", "price-drop"}), m.pick([]string{"de-DE", "fr-FR", "en-GB", "ja-JP"}))
}

func invoice(m *maker) (key, value []byte) {
	return fmt.Appendf(nil, "INV-%06d", 300000+m.n),
		fmt.Appendf(nil, `{"invoice":"INV-%06d","orderId":%d,"net":%s,"vatPercent":%d,"pdf":null}`,
			300000+m.n, 880000+m.n, m.cents(400), 7+12*m.IntN(2))
}

func fraudSignal(m *maker) (key, value []byte) {
	return fmt.Appendf(nil, "card-%04d", m.IntN(10000)),
		fmt.Appendf(nil, `{"signal":"%s","score":0.%02d,"device":"%08x"}`,
			m.pick([]string{"velocity", "geo-mismatch", "new-device", "bin-risk"}), m.IntN(100), m.Uint32())
}

func product(m *maker) (key, value []byte) {
	sku := m.pick(skus)
	return []byte(sku),
		fmt.Appendf(nil, `{"sku":"%s","title":"%s","price":%s,"active":true,"rev":%d}`, sku, sku, m.cents(200), m.n)
}

func returnedGoods(m *maker) (key, value []byte) {
	order := 870000 + m.n
	return fmt.Appendf(nil, "order-%d", order),
		fmt.Appendf(nil, `{"returnId":"R%06d","orderId":%d,"reason":"%s"}`,
			200000+m.n, order, m.pick([]string{"wrong-size", "damaged", "changed-mind"}))
}

func email(m *maker) (key, value []byte) {
	customer := m.customer()
	return fmt.Appendf(nil, "cust-%d", customer),
		fmt.Appendf(nil, `{"messageId":"%08x@mail.example","to":"customer-%d@example.com","template":"%s"}`,
			m.Uint32(), customer, m.pick([]string{"order-confirmed", "invoice", "password-reset"}))
}

func ledger(m *maker) (key, value []byte) {
	account := 1000 + m.IntN(40)*10
	return fmt.Appendf(nil, "%d", account),
		fmt.Appendf(nil, `{"entry":%d,"account":%d,"debit":%s,"credit":0.00,"period":"%s"}`, 700000+m.n, account, m.cents(900), time.Month(1+m.IntN(12)))
}

func price(m *maker) (key, value []byte) {
	sku := m.pick(skus)
	return []byte(sku), fmt.Appendf(nil, `{"sku":"%s","list":%s,"currency":"%s"}`, sku, m.cents(200), m.pick(currencies))
}
