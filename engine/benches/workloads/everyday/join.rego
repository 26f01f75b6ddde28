# Two lists joined by a key that they share.
package lateness

late contains order.id if {
	some customer in data.customers
	some order in data.orders
	order.customer == customer.id
	customer.tier == "gold"
	order.days > 30
}

answer := count(late)
